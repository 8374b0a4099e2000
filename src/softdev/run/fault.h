// Faults of generated code: signals that become errors of the context.
//
// SIGSEGV, SIGBUS, SIGFPE and SIGILL are taken when the thread holds an armed executor and the
// program counter lies in generated code, or in one of the few functions of ours that touch a
// kernel's memory (section td_rt_text), or is itself the bad address (a wild jump). The handler
// sends the thread to the executor's recovery point by rewriting its registers. Everything else
// goes to the handler that was there before (Python's, AddressSanitizer's, the default).
#pragma once

#include <cstdint>
#include <string>

#include "base/cuda_abi.h"
#include "softdev/run/executor.h"

// Functions that may fault on behalf of a kernel: they hold no locks and call nothing outside of
// this section.
#define TD_RT_TEXT __attribute__((section("td_rt_text"), noinline))

namespace td::softdev {

// Idempotent; puts our handlers (back) on top.
void install_fault_handlers();
// Called with each launch: a program may install handlers of its own at any time (Python's
// faulthandler), which must not take kernels' faults for crashes. Looks at most every half
// millisecond.
void keep_fault_handlers();
// The signal that makes a thread leave generated code.
int interrupt_signal();
// The calling thread needs a stack for handlers before it runs generated code.
void ensure_alternate_stack();

struct FaultReport {
  CUresult code = 0;
  std::string text;
};
// What the executor's leave of generated code means.
FaultReport explain(const Executor& executor, const char* kernel);
// "kernel k, block (x, y, z)"
std::string place(const char* kernel, const BlockFrame& frame);

}  // namespace td::softdev
