#pragma once
#pragma clang system_header
#include "cuda_awbarrier_primitives.h"
