#include "softdev/simt/builtins.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>

namespace td::softdev::simt {
namespace {

constexpr BuiltinRow rows[] = {
#define ROW(name, kind, flags, detail) {name, Builtin::kind, flags, detail},
#include "softdev/simt/builtins.def"
#undef ROW
};

constexpr BuiltinRow pure_row{"", Builtin::pure, 0, 0};
constexpr BuiltinRow math_row{"", Builtin::math, 0, 0};

const llvm::StringMap<const BuiltinRow*>& by_name() {
  static const auto* map = [] {
    auto* made = new llvm::StringMap<const BuiltinRow*>;
    for (const BuiltinRow& row : rows) (*made)[row.name] = &row;
    return made;
  }();
  return *map;
}

bool is_pure(llvm::Intrinsic::ID id) {
  using namespace llvm;
  return isTriviallyVectorizable(id) || id == Intrinsic::is_fpclass ||
         id == Intrinsic::uadd_with_overflow || id == Intrinsic::usub_with_overflow ||
         id == Intrinsic::umul_with_overflow || id == Intrinsic::sadd_with_overflow ||
         id == Intrinsic::ssub_with_overflow || id == Intrinsic::smul_with_overflow;
}

}  // namespace

const BuiltinRow* find_builtin(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return nullptr;
  llvm::StringRef name = callee->getName();
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call))
    name = llvm::Intrinsic::getBaseName(intrinsic->getIntrinsicID());
  auto found = by_name().find(name);
  if (found != by_name().end()) return found->second;
  if (callee->isIntrinsic()) return is_pure(callee->getIntrinsicID()) ? &pure_row : nullptr;
  return name.starts_with("__td_") ? &math_row : nullptr;
}

BarrierKind barrier_kind(const BuiltinRow& row) {
  if (row.kind == Builtin::barrier_arrive) return BarrierKind::arrive;
  if (row.kind != Builtin::barrier_reduce) return BarrierKind::sync;
  return row.detail == 0   ? BarrierKind::count
         : row.detail == 1 ? BarrierKind::all
                           : BarrierKind::any;
}

}  // namespace td::softdev::simt
