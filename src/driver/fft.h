// Fourier transforms through the cuFFT interface (boundary B2): NVIDIA's library on a GPU, opened
// on first use, and functions of the same names on the software device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fft_abi.h"
#include "driver/math_library.h"
#include "driver/state.h"
#include "treadle/dtype.h"

namespace td::driver {

// One pointer per row of tables/fft_api.def.
struct FftApi {
#define TD_FFT_API(symbol, since, params) cufftResult(*symbol) params = nullptr;
#include "fft_api.def"
};

using FftLibrary = MathLibrary<FftApi>;
// The library for a provider's devices, opened once. Never throws.
const FftLibrary& fft_library(const Provider& provider);

// `batch` transforms of 1 to 3 axes, C-contiguous inside: along the last axis, point i of transform
// b is at b * dist + i * stride elements. A real side has n points along the last axis, its complex
// side n/2 + 1.
struct FftLayout {
  std::vector<std::int64_t> n;
  std::int64_t stride = 1;
  std::int64_t in_dist = 0, out_dist = 0;
  std::int64_t batch = 1;
  DType in{}, out{};  // float32, float64, complex64, complex128, of one precision
  auto operator<=>(const FftLayout&) const = default;
};

// One unnormalised transform, enqueued on the stream; a transform to real data may overwrite its
// input. Plans are kept for later calls of the same layout. Throws NotSupported where the library
// is missing, DriverError for a failure.
void fft(const StreamState& stream, const FftLayout& layout, bool inverse, CUdeviceptr in,
         CUdeviceptr out);

}  // namespace td::driver
