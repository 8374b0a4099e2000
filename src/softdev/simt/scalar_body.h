// The body of one scalar function (scalar.h).
#pragma once

#include "softdev/simt/builtins.h"
#include "softdev/simt/scalar.h"

namespace td::softdev::simt {

class ScalarBody {
 public:
  ScalarBody(ScalarCode& code, llvm::Function& device, llvm::Function& host,
             const SharedLayout& shared)
      : code_(code), device_(device), host_(host), shared_(shared), b_(host.getContext()) {}
  void emit();

 private:
  void clone();
  void load_frames();
  void check_stack();
  void check_dynamic_stack(llvm::AllocaInst& array);
  void replace_operands(llvm::Instruction& instruction);
  llvm::Value* address_of(const llvm::GlobalVariable& variable);
  void add_yields();
  void replace_call(llvm::CallInst& call);
  void replace_device_call(llvm::CallInst& call);
  llvm::Value* builtin(llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* special_register(llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* math(llvm::CallInst& call);
  llvm::Value* barrier(llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* warp_op(llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* clock(llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* mma(llvm::CallInst& call);
  llvm::Value* lane_call(llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* warp_call(llvm::CallInst& call, const BuiltinRow& row);
  llvm::Value* is_constant(llvm::CallInst& call);
  llvm::Value* trap(llvm::CallInst& call);
  llvm::Value* assertion(llvm::CallInst& call);
  llvm::Value* print(llvm::CallInst& call);
  llvm::Value* field(llvm::Value* base, std::size_t offset, llvm::Type* type);
  llvm::Value* runtime(llvm::StringRef name, llvm::Type* result,
                       llvm::ArrayRef<llvm::Value*> arguments, bool returns = true);

  ScalarCode& code_;
  llvm::Function &device_, &host_;
  const SharedLayout& shared_;
  llvm::IRBuilder<> b_;
  llvm::Value *thread_ = nullptr, *block_ = nullptr, *launch_ = nullptr;
  llvm::Value *shared_base_ = nullptr, *globals_ = nullptr, *linear_ = nullptr;
};

}  // namespace td::softdev::simt
