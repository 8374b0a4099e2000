// How generated code makes a WarpCall (kernel_abi.h): from a warp's vectors, or from one thread.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "softdev/simt/builtins.h"

namespace td::softdev::simt {

struct WarpCallValues {
  llvm::Value *block = nullptr, *lanes = nullptr, *first_thread = nullptr;
  unsigned width = 1;
  llvm::SmallVector<llvm::Value*> operands;  // arrays; null: zero in every lane
  llvm::Value* result = nullptr;             // an array, null when there is none
  llvm::Value* frame = nullptr;              // room for the WarpCall
};

llvm::StructType* warp_call_type(llvm::LLVMContext& context);
bool is_zero(const llvm::Value& operand);
// Fills the frame and calls the row's function.
void make_warp_call(llvm::IRBuilder<>& b, const llvm::CallInst& call, const BuiltinRow& row,
                    const WarpCallValues& values);

}  // namespace td::softdev::simt
