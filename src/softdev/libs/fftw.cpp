#include "softdev/libs/fftw.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/text.h"
#include "softdev/libs/own_fft.h"

namespace td::softdev {

namespace {

// TREADLE_FFTW=0 leaves FFTW, which is under the GPL, where it is.
bool wanted() {
  const char* text = std::getenv("TREADLE_FFTW");
  return !(text && std::string_view(text) == "0");
}

template <class T>
Fftw<T> open_library() {
  constexpr bool single = std::is_same_v<T, float>;
  void* handle = wanted()
                     ? dlopen(single ? "libfftw3f.so.3" : "libfftw3.so.3", RTLD_NOW | RTLD_LOCAL)
                     : nullptr;
  if (!handle) return own_fft<T>();
  Fftw<T> fftw;
  bool complete = true;
  auto find = [&](auto& slot, const char* name) {
    std::string symbol = base::cat(single ? "fftwf_" : "fftw_", name);
    slot = reinterpret_cast<std::decay_t<decltype(slot)>>(dlsym(handle, symbol.c_str()));
    complete = complete && slot;
  };
  find(fftw.plan_complex, "plan_guru64_dft");
  find(fftw.plan_from_real, "plan_guru64_dft_r2c");
  find(fftw.plan_to_real, "plan_guru64_dft_c2r");
  find(fftw.run_complex, "execute_dft");
  find(fftw.run_from_real, "execute_dft_r2c");
  find(fftw.run_to_real, "execute_dft_c2r");
  find(fftw.destroy, "destroy_plan");
  return complete ? fftw : own_fft<T>();
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
