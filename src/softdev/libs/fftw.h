// FFTW, opened at first use where it is installed: plans of any strides and their execution. Where
// it is not, or TREADLE_FFTW=0 is set, functions of our own stand in the table (own_fft.h).
#pragma once

#include <complex>
#include <cstddef>

namespace td::softdev {

// One axis of a plan: its length and the steps of input and output, in elements.
struct FftwAxis {
  std::ptrdiff_t n, in_step, out_step;
};

// The functions for one precision (fftw_, fftwf_). Plans may be executed by several threads on
// different arrays; making and destroying plans takes the planner's mutex.
template <class T>
struct Fftw {
  using Complex = std::complex<T>;
  using Plan = struct FftwPlan*;
  enum Flag : unsigned { destroy_input = 1u << 0, unaligned = 1u << 1, estimate = 1u << 6 };

  Plan (*plan_complex)(int rank, const FftwAxis* axes, int batch_rank, const FftwAxis* batch,
                       Complex* in, Complex* out, int sign, unsigned flags) = nullptr;
  Plan (*plan_from_real)(int rank, const FftwAxis* axes, int batch_rank, const FftwAxis* batch,
                         T* in, Complex* out, unsigned flags) = nullptr;
  Plan (*plan_to_real)(int rank, const FftwAxis* axes, int batch_rank, const FftwAxis* batch,
                       Complex* in, T* out, unsigned flags) = nullptr;
  void (*run_complex)(Plan plan, Complex* in, Complex* out) = nullptr;
  void (*run_from_real)(Plan plan, T* in, Complex* out) = nullptr;
  void (*run_to_real)(Plan plan, Complex* in, T* out) = nullptr;
  void (*destroy)(Plan plan) = nullptr;

  static const Fftw& get();
};

extern template struct Fftw<float>;
extern template struct Fftw<double>;

}  // namespace td::softdev
