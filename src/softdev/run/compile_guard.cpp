#include "softdev/run/compile_guard.h"

#include <setjmp.h>

#include "softdev/run/fault.h"

namespace td::softdev {

namespace {

// initial-exec: the fault handler reads it.
__attribute__((tls_model("initial-exec"))) thread_local sigjmp_buf* recovery = nullptr;

}  // namespace

bool survives(void (*work)(void*), void* argument) {
  install_fault_handlers();
  ensure_alternate_stack();
  sigjmp_buf here;
  sigjmp_buf* before = recovery;
  if (sigsetjmp(here, 1)) {
    recovery = before;
    return false;
  }
  recovery = &here;
  work(argument);
  recovery = before;
  return true;
}

void leave_crashed_work() {
  if (recovery) siglongjmp(*recovery, 1);
}

}  // namespace td::softdev
