#include "softdev/libs/openblas.h"

#include <dlfcn.h>

#include "base/log.h"
#include "base/text.h"

namespace td::softdev {

namespace {

OpenBlas open_library() {
  OpenBlas blas;
  void* handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    blas.problem = base::cat("matrix products on the software device need OpenBLAS: ", dlerror(),
                             "; install the package libopenblas0");
  } else {
    blas.sgemm = reinterpret_cast<OpenBlas::RealGemm<float>>(dlsym(handle, "cblas_sgemm"));
    blas.dgemm = reinterpret_cast<OpenBlas::RealGemm<double>>(dlsym(handle, "cblas_dgemm"));
    blas.cgemm = reinterpret_cast<OpenBlas::ComplexGemm>(dlsym(handle, "cblas_cgemm"));
    blas.zgemm = reinterpret_cast<OpenBlas::ComplexGemm>(dlsym(handle, "cblas_zgemm"));
    blas.sgemv = reinterpret_cast<OpenBlas::RealGemv<float>>(dlsym(handle, "cblas_sgemv"));
    blas.dgemv = reinterpret_cast<OpenBlas::RealGemv<double>>(dlsym(handle, "cblas_dgemv"));
    blas.cgemv = reinterpret_cast<OpenBlas::ComplexGemv>(dlsym(handle, "cblas_cgemv"));
    blas.zgemv = reinterpret_cast<OpenBlas::ComplexGemv>(dlsym(handle, "cblas_zgemv"));
    if (!blas.sgemm || !blas.dgemm || !blas.cgemm || !blas.zgemm || !blas.sgemv || !blas.dgemv ||
        !blas.cgemv || !blas.zgemv)
      blas.problem = "libopenblas.so.0 lacks the CBLAS functions; install the package libopenblas0";
  }
  if (!blas.problem.empty()) base::log_once(base::LogLevel::warn, blas.problem);
  return blas;
}

}  // namespace

const OpenBlas& OpenBlas::get() {
  static const OpenBlas& blas = *new OpenBlas(open_library());
  return blas;
}

}  // namespace td::softdev
