// Memory functions that generated code calls. They are ours, not libc's, so that a fault inside of
// them is known to be the kernel's (see fault.h).
#pragma once

#include <cstddef>

extern "C" {
void* td_rt_memcpy(void* destination, const void* source, std::size_t bytes);
void* td_rt_memmove(void* destination, const void* source, std::size_t bytes);
void* td_rt_memset(void* destination, int value, std::size_t bytes);
int td_rt_memcmp(const void* left, const void* right, std::size_t bytes);
}
