#include "softdev/libs/fftw.h"

#include <dlfcn.h>

#include <type_traits>

#include "base/log.h"
#include "base/text.h"

namespace td::softdev {

namespace {

template <class T>
Fftw<T> open_library() {
  constexpr bool single = std::is_same_v<T, float>;
  const char* file = single ? "libfftw3f.so.3" : "libfftw3.so.3";
  const char* package = single ? "libfftw3-single3" : "libfftw3-double3";
  Fftw<T> fftw;
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    fftw.problem = base::cat("Fourier transforms on the software device need FFTW: ", dlerror(),
                             "; install the package ", package);
  } else {
    auto find = [&](auto& slot, const char* name) {
      std::string symbol = base::cat(single ? "fftwf_" : "fftw_", name);
      slot = reinterpret_cast<std::decay_t<decltype(slot)>>(dlsym(handle, symbol.c_str()));
      if (!slot)
        fftw.problem = base::cat(file, " lacks ", symbol, "; install the package ", package);
    };
    find(fftw.plan_complex, "plan_guru64_dft");
    find(fftw.plan_from_real, "plan_guru64_dft_r2c");
    find(fftw.plan_to_real, "plan_guru64_dft_c2r");
    find(fftw.run_complex, "execute_dft");
    find(fftw.run_from_real, "execute_dft_r2c");
    find(fftw.run_to_real, "execute_dft_c2r");
    find(fftw.destroy, "destroy_plan");
  }
  if (!fftw.problem.empty()) base::log_once(base::LogLevel::warn, fftw.problem);
  return fftw;
}

}  // namespace

template <class T>
const Fftw<T>& Fftw<T>::get() {
  static const Fftw& opened = *new Fftw(open_library<T>());
  return opened;
}

template struct Fftw<float>;
template struct Fftw<double>;

}  // namespace td::softdev
