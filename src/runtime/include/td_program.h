// What every .cu file sees first: CUDA's keywords, the device builtins, the C and C++ headers that
// nvcc's own prelude brings in, and the runtime API. The device builtins come first: functions of
// <cmath> that are constexpr stay host functions where a device function of the same signature is
// already known.
#pragma once
#pragma clang system_header

#include "../../compile/include/treadle_prelude.h"
#undef assert

extern "C" {
__attribute__((device, noreturn)) void __assert_fail(const char* condition, const char* file,
                                                     unsigned line, const char* function) noexcept;
}

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

// Placement new of device code, beside the host's of <new>.
__attribute__((device)) inline void* operator new(size_t, void* place) noexcept { return place; }
__attribute__((device)) inline void* operator new[](size_t, void* place) noexcept { return place; }
__attribute__((device)) inline void operator delete(void*, void*) noexcept {}
__attribute__((device)) inline void operator delete[](void*, void*) noexcept {}

#include "cuda_runtime.h"
#include "td_program_math.h"
