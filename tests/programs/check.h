// What the test programs check with: a message and a failure.
#pragma once
#include <cstdio>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t error = (call);                                                            \
    if (error != cudaSuccess) {                                                            \
      std::printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      return 1;                                                                            \
    }                                                                                      \
  } while (0)
#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) return std::printf("%s:%d %s\n", __FILE__, __LINE__, #condition), 1; \
  } while (0)
