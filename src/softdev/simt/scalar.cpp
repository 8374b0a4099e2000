#include "softdev/simt/scalar.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "softdev/simt/math_names.h"
#include "softdev/simt/progress.h"
#include "softdev/simt/scalar_body.h"

namespace td::softdev::simt {

using namespace llvm;

Constant* place_text(Module& host, const Instruction& at) {
  std::string text = source_place(at);
  while (!text.empty() && (text.back() == ' ' || text.back() == ':')) text.pop_back();
  std::string function = source_function(at);
  if (!function.empty()) text += " (" + function + ")";
  std::string name = "td.place." + text;
  if (GlobalVariable* made = host.getNamedGlobal(name)) return made;
  Constant* bytes = ConstantDataArray::getString(host.getContext(), text);
  auto* variable =
      new GlobalVariable(host, bytes->getType(), true, GlobalValue::PrivateLinkage, bytes, name);
  variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return variable;
}

Function* ScalarCode::declare(Function& device, const SharedLayout& shared,
                              const std::string& symbol, bool is_kernel) {
  SmallVector<Type*> params{PointerType::get(host_.getContext(), 0)};
  params.append(device.getFunctionType()->param_begin(), device.getFunctionType()->param_end());
  auto* type = FunctionType::get(device.getReturnType(), params, device.isVarArg());
  if (device.isVarArg())
    throw Unsupported("function `" + device.getName().str() +
                      "`: a variable number of arguments is not supported on "
                      "the software device yet");
  auto* made = Function::Create(type, GlobalValue::ExternalLinkage, symbol, host_);
  made->setDSOLocal(true);
  made->setDoesNotThrow();
  for (Argument& argument : device.args()) {
    AttrBuilder attributes(host_.getContext(),
                           device.getAttributes().getParamAttrs(argument.getArgNo()));
    made->addParamAttrs(argument.getArgNo() + 1, attributes);
  }
  bodies_.push_back({&device, made, &shared, is_kernel});
  return made;
}

Function* ScalarCode::function(Function& device) {
  if (device.isDeclaration())
    throw Unsupported("function `" + device.getName().str() +
                      "` is declared but not defined: define it in the same source");
  Function*& made = made_[&device];
  if (!made) made = declare(device, shared_, symbol_of(device), false);
  return made;
}

// (ThreadFrame*): loads the parameters and calls the body.
std::string ScalarCode::kernel(const KernelContext& kernel) {
  Function& device = *kernel.thread;
  Function* body = declare(device, kernel.shared, "td_body." + device.getName().str(), true);
  body->setLinkage(GlobalValue::InternalLinkage);
  for (Argument& argument : body->args())
    for (auto kind : {Attribute::ByVal, Attribute::NoAlias}) argument.removeAttr(kind);
  IRBuilder<> b(host_.getContext());
  Type* pointer = b.getPtrTy();
  std::string symbol = "td_thread." + device.getName().str();
  auto* entry = Function::Create(FunctionType::get(b.getVoidTy(), {pointer}, false),
                                 GlobalValue::ExternalLinkage, symbol, host_);
  entry->setDSOLocal(true);
  entry->setDoesNotThrow();
  b.SetInsertPoint(BasicBlock::Create(host_.getContext(), "", entry));
  auto load = [&](Type* type, Value* base, std::uint64_t offset) {
    return b.CreateAlignedLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset),
                               Align(1));
  };
  Value* block = load(pointer, entry->getArg(0), offsetof(ThreadFrame, block));
  Value* launch = load(pointer, block, offsetof(BlockFrame, launch));
  Value* params = load(pointer, launch, offsetof(LaunchFrame, params));
  SmallVector<Value*> arguments{entry->getArg(0)};
  for (Argument& argument : device.args()) {
    std::uint64_t offset = kernel.params[argument.getArgNo()].offset;
    Type* type = argument.getType();
    Value* value;
    if (argument.hasByValAttr())
      value = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), params, offset);
    else if (type->isIntegerTy(1))
      value = b.CreateTrunc(load(b.getInt8Ty(), params, offset), type);
    else
      value = load(type, params, offset);
    if (value->getType() != type) value = b.CreateAddrSpaceCast(value, type);
    arguments.push_back(value);
  }
  b.CreateCall(body, arguments);
  b.CreateRetVoid();
  return symbol;
}

void ScalarCode::emit_bodies(NoteRefused refused) {
  while (next_body_ < bodies_.size()) {
    Body body = bodies_[next_body_++];
    try {
      ScalarBody(*this, *body.device, *body.host, *body.shared).emit();
    } catch (const Unsupported& why) {
      if (!body.is_kernel) throw;
      refused(*body.device, why.what());
      leave_empty(*body.host);
    }
  }
  if (NamedMDNode* units = host_.getNamedMetadata("llvm.dbg.cu")) units->eraseFromParent();
}

std::vector<std::string> ScalarCode::symbols() const {
  std::vector<std::string> symbols;
  for (const Body& body : bodies_) symbols.push_back(body.host->getName().str());
  return symbols;
}

}  // namespace td::softdev::simt
