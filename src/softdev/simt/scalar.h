// Scalar code: the function of one thread as host code, with a program counter of its own.
//
// Used for kernels in lane mode (Fairness::threads) and for device functions that are called
// through pointers or may recurse, from scalar and from vector code. It is the thread's own IR with
// CUDA's operations replaced: special registers are read from the ThreadFrame that every function
// gets as its first argument, barriers and warp-level operations are calls of the runtime, which
// may run other threads meanwhile. No masks, no vectors: whatever control flow the code has is
// right.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <vector>

#include "softdev/simt/functions.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

class ScalarCode {
 public:
  // `shared`: where the shared variables of functions lie, the same in every kernel.
  ScalarCode(llvm::Module& host, const DataSegment& data, const SharedLayout& shared,
             const KeptFunctions& kept, bool has_avx2)
      : host_(host), data_(data), shared_(shared), kept_(kept), has_avx2_(has_avx2) {}

  // The host function of a device function: (ThreadFrame*, its arguments...).
  llvm::Function* function(llvm::Function& device_function);
  // The ThreadFunction of a kernel; returns its symbol.
  std::string kernel(const KernelContext& kernel);
  // Makes the bodies of all functions that were asked for. Kernels that are refused get a body that
  // is never to be run; `refused` is told why. Throws Unsupported for what several kernels share.
  void emit_bodies(NoteRefused refused);
  bool empty() const { return bodies_.empty(); }
  // Symbols of all scalar functions.
  std::vector<std::string> symbols() const;

  static std::string symbol_of(const llvm::Function& device_function) {
    return "td_fn." + device_function.getName().str();
  }

 private:
  friend class ScalarBody;
  llvm::Function* declare(llvm::Function& device_function, const SharedLayout& shared,
                          const std::string& symbol, bool is_kernel);
  struct Body {
    llvm::Function *device, *host;
    const SharedLayout* shared;
    bool is_kernel;
  };

  llvm::Module& host_;
  const DataSegment& data_;
  const SharedLayout& shared_;
  const KeptFunctions& kept_;
  bool has_avx2_;
  std::map<llvm::Function*, llvm::Function*> made_;
  std::vector<Body> bodies_;
  unsigned next_body_ = 0, sites_ = 0;
};

// "file:line (function)" as a constant of the module.
llvm::Constant* place_text(llvm::Module& host, const llvm::Instruction& at);

}  // namespace td::softdev::simt
