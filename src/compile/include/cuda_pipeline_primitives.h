// Copies to shared memory, done when they are issued.
#pragma once
#pragma clang system_header
#include "cuda_awbarrier_primitives.h"

// The last `zeros` of the bytes are zero instead.
__TD_FN void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  memcpy(to, from, bytes - zeros);
  if (zeros != 0) memset((char*)to + (bytes - zeros), 0, zeros);
}
__TD_FN void __pipeline_commit() {}
__TD_FN void __pipeline_wait_prior(size_t) { __threadfence_block(); }
// The copies that the thread has issued have arrived.
__TD_FN void __pipeline_arrive_on(__mbarrier_t* barrier) {
  __td_mbarrier_arrive((__td_mbarrier*)barrier, 1);
}
