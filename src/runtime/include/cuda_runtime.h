// The C++ side of the CUDA runtime API: helper constructors and the templates that take kernels and
// variables by name.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#define __CUDA_RUNTIME_H__
#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include "td_runtime_templates.h"
#endif
