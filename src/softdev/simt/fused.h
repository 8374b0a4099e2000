// Products and sums that CUDA lets become one operation with one rounding.
#pragma once

#include <llvm/IR/Function.h>

namespace td::softdev::simt {

// Makes fma of each sum or difference with a product that both may be contracted, and takes the
// permission from all others: what is rounded is decided here, once for all versions of a kernel,
// not by whichever code generator comes later. For targets that have the instruction.
void fuse_products(llvm::Function& kernel);

}  // namespace td::softdev::simt
