#include "softdev/libs/lapack.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "base/text.h"

namespace td::softdev::lapack {

namespace {

template <class T>
constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

// What differs between real and complex routines is one more array of reals behind the workspace.
template <class T, class... Rest>
struct WithReals {
  template <class... First>
  struct Behind {
    using type =
        std::conditional_t<is_complex<T>,
                           void (*)(First..., T* work, const int* size, Real<T>* reals, Rest...),
                           void (*)(First..., T* work, const int* size, Rest...)>;
  };
};

template <class T>
struct Routines {
  using R = Real<T>;
  using I = const int*;
  using C = const char*;
  using L = std::size_t;
  void (*getrf)(I m, I n, T* a, I lda, int* pivots, int* info) = nullptr;
  void (*getrs)(C op, I n, I nrhs, const T* a, I lda, I pivots, T* b, I ldb, int* info,
                L) = nullptr;
  void (*potrf)(C uplo, I n, T* a, I lda, int* info, L) = nullptr;
  void (*geqrf)(I m, I n, T* a, I lda, T* tau, T* work, I size, int* info) = nullptr;
  void (*orgqr)(I m, I n, I k, T* a, I lda, const T* tau, T* work, I size, int* info) = nullptr;
  typename WithReals<T, int*, int*, L>::template Behind<C, I, I, T*, I, R*, T*, I, T*, I>::type
      gesdd = nullptr;
  std::conditional_t<is_complex<T>,
                     void (*)(C job, C uplo, I n, T* a, I lda, R* w, T* work, I size, R* reals,
                              I reals_size, int* ints, I ints_size, int* info, L, L),
                     void (*)(C job, C uplo, I n, T* a, I lda, R* w, T* work, I size, int* ints,
                              I ints_size, int* info, L, L)>
      syevd = nullptr;
  std::conditional_t<is_complex<T>,
                     void (*)(C, C, I n, T* a, I lda, T* w, T* vl, I, T* vr, I ldvr, T* work,
                              I size, R* reals, int* info, L, L),
                     void (*)(C, C, I n, T* a, I lda, R* re, R* im, T* vl, I, T* vr, I ldvr,
                              T* work, I size, int* info, L, L)>
      geev = nullptr;
};

struct Library {
  Routines<float> s;
  Routines<double> d;
  Routines<std::complex<float>> c;
  Routines<std::complex<double>> z;
  std::string problem;
};

template <class T>
void load(void* handle, Routines<T>& routines, char letter, std::string& missing) {
  auto find = [&](auto& slot, const char* real_name, const char* complex_name) {
    std::string symbol = base::cat(letter, is_complex<T> ? complex_name : real_name, '_');
    slot = reinterpret_cast<std::decay_t<decltype(slot)>>(dlsym(handle, symbol.c_str()));
    if (!slot && missing.empty()) missing = symbol;
  };
  find(routines.getrf, "getrf", "getrf");
  find(routines.getrs, "getrs", "getrs");
  find(routines.potrf, "potrf", "potrf");
  find(routines.geqrf, "geqrf", "geqrf");
  find(routines.orgqr, "orgqr", "ungqr");
  find(routines.gesdd, "gesdd", "gesdd");
  find(routines.syevd, "syevd", "heevd");
  find(routines.geev, "geev", "geev");
}

Library open_library() {
  Library library;
  void* handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    library.problem =
        base::cat("linear algebra on the software device needs OpenBLAS with LAPACK: ", dlerror(),
                  "; install the package libopenblas0");
  } else {
    std::string missing;
    load(handle, library.s, 's', missing);
    load(handle, library.d, 'd', missing);
    load(handle, library.c, 'c', missing);
    load(handle, library.z, 'z', missing);
    if (!missing.empty())
      library.problem = base::cat("libopenblas.so.0 lacks LAPACK's ", missing,
                                  "; install the package libopenblas0");
  }
  if (!library.problem.empty()) base::log_once(base::LogLevel::warn, library.problem);
  return library;
}

const Library& library() {
  static const Library& opened = *new Library(open_library());
  return opened;
}

template <class T>
const Routines<T>& routines() {
  if constexpr (std::is_same_v<T, float>)
    return library().s;
  else if constexpr (std::is_same_v<T, double>)
    return library().d;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return library().c;
  else
    return library().z;
}

// Asks the routine for the size of its workspace, then runs it: `call(work, size)`.
template <class T, class F>
void with_workspace(const F& call) {
  T wanted{};
  int query = -1;
  call(&wanted, &query);
  int size = std::max(1, static_cast<int>(std::real(wanted)));
  std::vector<T> work(static_cast<std::size_t>(size));
  call(work.data(), &size);
}

std::size_t square(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

}  // namespace

const std::string& problem() { return library().problem; }

template <class T>
int getrf(int m, int n, T* a, int lda, int* pivots) {
  int info = 0;
  routines<T>().getrf(&m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
int getrs(char op, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb) {
  int info = 0;
  routines<T>().getrs(&op, &n, &nrhs, a, &lda, pivots, b, &ldb, &info, 1);
  return info;
}

template <class T>
int potrf(char uplo, int n, T* a, int lda) {
  int info = 0;
  routines<T>().potrf(&uplo, &n, a, &lda, &info, 1);
  return info;
}

template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau) {
  int info = 0;
  with_workspace<T>(
      [&](T* work, int* size) { routines<T>().geqrf(&m, &n, a, &lda, tau, work, size, &info); });
  return info;
}

template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
  int info = 0;
  with_workspace<T>([&](T* work, int* size) {
    routines<T>().orgqr(&m, &n, &k, a, &lda, tau, work, size, &info);
  });
  return info;
}

template <class T>
int gesdd(char job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt) {
  int info = 0;
  auto least = static_cast<std::size_t>(std::min(m, n)),
       most = static_cast<std::size_t>(std::max(m, n));
  std::vector<int> ints(8 * least);
  if constexpr (is_complex<T>) {
    std::vector<Real<T>> reals(job == 'N' ? 7 * least
                                          : std::max(5 * least * least + 7 * least,
                                                     2 * most * least + 2 * least * least + least));
    with_workspace<T>([&](T* work, int* size) {
      routines<T>().gesdd(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, reals.data(),
                          ints.data(), &info, 1);
    });
  } else {
    with_workspace<T>([&](T* work, int* size) {
      routines<T>().gesdd(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, size, ints.data(),
                          &info, 1);
    });
  }
  return info;
}

template <class T>
int syevd(char job, char uplo, int n, T* a, int lda, Real<T>* w) {
  int info = 0;
  int ints_size = job == 'V' ? 3 + 5 * n : 1;
  std::vector<int> ints(static_cast<std::size_t>(ints_size));
  if constexpr (is_complex<T>) {
    std::vector<Real<T>> reals(job == 'V' ? 1 + 5 * static_cast<std::size_t>(n) + 2 * square(n)
                                          : static_cast<std::size_t>(std::max(1, n)));
    int reals_size = static_cast<int>(reals.size());
    with_workspace<T>([&](T* work, int* size) {
      routines<T>().syevd(&job, &uplo, &n, a, &lda, w, work, size, reals.data(), &reals_size,
                          ints.data(), &ints_size, &info, 1, 1);
    });
  } else {
    with_workspace<T>([&](T* work, int* size) {
      routines<T>().syevd(&job, &uplo, &n, a, &lda, w, work, size, ints.data(), &ints_size, &info,
                          1, 1);
    });
  }
  return info;
}

template <class T>
int geev(bool vectors, int n, T* a, int lda, std::complex<Real<T>>* w, T* vr, int ldvr) {
  int info = 0, one = 1;
  char none = 'N', right = vectors ? 'V' : 'N';
  if constexpr (is_complex<T>) {
    std::vector<Real<T>> reals(2 * static_cast<std::size_t>(n));
    with_workspace<T>([&](T* work, int* size) {
      routines<T>().geev(&none, &right, &n, a, &lda, w, nullptr, &one, vr, &ldvr, work, size,
                         reals.data(), &info, 1, 1);
    });
  } else {
    std::vector<T> re(static_cast<std::size_t>(n)), im(re.size());
    with_workspace<T>([&](T* work, int* size) {
      routines<T>().geev(&none, &right, &n, a, &lda, re.data(), im.data(), nullptr, &one, vr, &ldvr,
                         work, size, &info, 1, 1);
    });
    for (std::size_t i = 0; i < re.size(); ++i) w[i] = {re[i], im[i]};
  }
  return info;
}

#define TD_INSTANTIATE(T)                                                  \
  template int getrf(int, int, T*, int, int*);                             \
  template int getrs(char, int, int, const T*, int, const int*, T*, int);  \
  template int potrf(char, int, T*, int);                                  \
  template int geqrf(int, int, T*, int, T*);                               \
  template int orgqr(int, int, int, T*, int, const T*);                    \
  template int gesdd(char, int, int, T*, int, Real<T>*, T*, int, T*, int); \
  template int syevd(char, char, int, T*, int, Real<T>*);                  \
  template int geev(bool, int, T*, int, std::complex<Real<T>>*, T*, int);
TD_INSTANTIATE(float)
TD_INSTANTIATE(double)
TD_INSTANTIATE(std::complex<float>)
TD_INSTANTIATE(std::complex<double>)
#undef TD_INSTANTIATE

}  // namespace td::softdev::lapack
