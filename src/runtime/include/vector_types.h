// CUDA's vector types on the host side: the device header's own, and plain structs where no C++ is
// spoken.
#pragma once
#ifdef __cplusplus
#include "../../compile/include/td_vectors.h"
#else
#include "td_c_vectors.h"
#endif
