#include "driver/solver.h"

#include <algorithm>
#include <climits>
#include <map>
#include <optional>

#include "base/text.h"
#include "driver/blas.h"
#include "driver/call_counts.h"
#include "driver/result_row.h"

namespace td::driver {

namespace {

// ---- the library ----

// CUDA 13 brings cuSOLVER 12, and CUDA 12 brings cuSOLVER 11.
std::vector<std::string> library_names(int driver_version) {
  std::vector<std::string> names;
  if (driver_version >= 13000) names.push_back("libcusolver.so.12");
  names.push_back("libcusolver.so.11");
  return names;
}

std::string fill(SolverApi& api, Resolve resolve, void* context) {
  std::string missing;
#define TD_SOLVER_API(symbol, since, params)                                             \
  api.symbol = reinterpret_cast<decltype(SolverApi::symbol)>(resolve(context, #symbol)); \
  if (!api.symbol && since == 0 && missing.empty()) missing = #symbol;
#include "solver_api.def"
  return missing;
}

LibraryFacts facts_of(const Provider& provider) {
  // cuSOLVER needs cuBLAS by name: the one that is already open serves it.
  if (!provider.library_symbol) blas_library(provider);
  return {library_names(provider.driver_version),
          "libcusparse.so",
          "nvidia-cusolver",
          "linear algebra",
          "build again with -DTREADLE_SOFTDEV=ON",
          "the cuSOLVER of CUDA 12 or newer"};
}

// ---- handles ----

constexpr ResultRow kStatus[] = {
#define TD_ROW(value, name, meaning, cure) {value, #name, meaning, cure},
    TD_CUSOLVER_RESULTS(TD_ROW)
#undef TD_ROW
};

// One handle per context and one user at a time; they live as long as the process, as cuBLAS's.
struct Handle {
  std::mutex mutex;
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t params = nullptr;
  std::uint64_t generation = 0;
};

Handle& handle_of(const DeviceState& device) {
  static std::mutex mutex;
  static auto& handles = *new std::map<const DeviceState*, Handle>;
  std::lock_guard lock(mutex);
  return handles[&device];
}

template <class T>
T* at(CUdeviceptr address) {
  return reinterpret_cast<T*>(address);
}

// ---- one call on a stack of matrices ----

class Session {
 public:
  Session(const StreamState& stream, DType dtype, const char* call)
      : stream_(stream),
        library_(solver_library(stream.device().provider())),
        call_(call),
        bytes_(static_cast<std::int64_t>(itemsize(dtype))) {
    if (!library_.usable()) throw NotSupported(base::cat(call, ": ", library_.problem));
    constexpr struct {
      DType dtype;
      int type, real, complex;
    } kTypes[] = {{DType::float32, blas::R_32F, blas::R_32F, blas::C_32F},
                  {DType::float64, blas::R_64F, blas::R_64F, blas::C_64F},
                  {DType::complex64, blas::C_32F, blas::R_32F, blas::C_32F},
                  {DType::complex128, blas::C_64F, blas::R_64F, blas::C_64F}};
    const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& r) { return r.dtype == dtype; });
    if (row == std::end(kTypes))
      throw NotSupported(base::cat(call, " of ", info(dtype).numpy,
                                   " is not supported; convert to float32 or float64"));
    type = row->type;
    real = row->real;
    complex = row->complex;
    DeviceState& device = stream.device();
    device.make_current();
    Handle& kept = handle_of(device);
    lock_ = std::unique_lock(kept.mutex);
    if (!kept.handle || kept.generation != device.generation()) {
      check(library_.api.cusolverDnCreate(&kept.handle), "cusolverDnCreate");
      check(library_.api.cusolverDnCreateParams(&kept.params), "cusolverDnCreateParams");
      kept.generation = device.generation();
    }
    handle = kept.handle;
    params = kept.params;
    check(library_.api.cusolverDnSetStream(handle, stream.handle()), "cusolverDnSetStream");
    note_library_call();
  }

  const SolverApi& api() const { return library_.api; }
  std::int64_t real_bytes() const { return type == real ? bytes_ : bytes_ / 2; }
  std::int64_t complex_bytes() const { return type == real ? 2 * bytes_ : bytes_; }
  std::int64_t bytes() const { return bytes_; }

  void check(cusolverStatus_t status, const char* what) const {
    if (status == ::td::solver::CUSOLVER_STATUS_SUCCESS) return;
    const ResultRow* known = find(kStatus, status);
    const ResultRow row =
        known ? *known : ResultRow{status, "CUSOLVER_STATUS", "an unknown status", ""};
    throw DriverError(base::cat(what, " failed: ", row.name, " (", status, "): ", row.meaning, " (",
                                library_.file, ")", *row.cure ? "; " : "", row.cure),
                      status, row.name, what);
  }
  void check(cusolverStatus_t status) const { check(status, call_); }

  // The optional functions.
  template <class F>
  void require(F function) const {
    if (!function)
      throw NotSupported(base::cat(library_.file, " lacks ", call_,
                                   "; install the cuSOLVER of CUDA 12.6 or newer"));
  }

  // Workspaces, given back in stream order when the session ends.
  void allocate(std::size_t device_bytes, std::size_t host_bytes) {
    if (device_bytes) memory_.emplace(stream_.device_ptr(), device_bytes, stream_.handle());
    work = device_bytes ? at<void>(memory_->address()) : nullptr;
    work_bytes = device_bytes;
    host_.resize(host_bytes);
    host_work = host_bytes ? host_.data() : nullptr;
    this->host_bytes = host_bytes;
  }

  int narrow(std::int64_t value) const {
    if (value > INT_MAX)
      throw ValueError(base::cat(call_, ": a dimension of ", value, " is beyond its 32 bits"));
    return static_cast<int>(value);
  }

  int type, real, complex;  // cudaDataType_t of the matrix and of its real and complex relatives
  cusolverDnHandle_t handle;
  cusolverDnParams_t params;
  void *work = nullptr, *host_work = nullptr;
  std::size_t work_bytes = 0, host_bytes = 0;

 private:
  const StreamState& stream_;
  const SolverLibrary& library_;
  const char* call_;
  std::int64_t bytes_;
  std::unique_lock<std::mutex> lock_;
  std::optional<Memory> memory_;
  std::vector<char> host_;
};

// The i-th piece of `elements` elements of `bytes` bytes.
CUdeviceptr piece(CUdeviceptr base, std::int64_t i, std::int64_t elements, std::int64_t bytes) {
  return base ? base + static_cast<CUdeviceptr>(i * elements * bytes) : 0;
}

template <class T>
using MakeQ = cusolverStatus_t (*)(cusolverDnHandle_t, int, int, int, T*, int, const T*, T*, int,
                                   int*);
template <class T>
using MakeQSize = cusolverStatus_t (*)(cusolverDnHandle_t, int, int, int, const T*, int, const T*,
                                       int*);

template <class T>
void make_q(Session& s, MakeQSize<T> size, MakeQ<T> make, std::int64_t m, std::int64_t n,
            std::int64_t k, std::int64_t count, CUdeviceptr a, CUdeviceptr tau, CUdeviceptr info) {
  int rows = s.narrow(m), columns = s.narrow(n), vectors = s.narrow(k), elements = 0;
  s.check(size(s.handle, rows, columns, vectors, at<T>(a), rows, at<T>(tau), &elements));
  s.allocate(static_cast<std::size_t>(elements) * sizeof(T), 0);
  for (std::int64_t i = 0; i < count; ++i)
    s.check(make(s.handle, rows, columns, vectors, at<T>(piece(a, i, m * n, s.bytes())), rows,
                 at<T>(piece(tau, i, k, s.bytes())), static_cast<T*>(s.work), elements,
                 at<int>(piece(info, i, 1, 4))));
}

}  // namespace

const SolverLibrary& solver_library(const Provider& provider) {
  return math_library<SolverApi>(provider, facts_of, fill);
}

namespace solver {

void getrf(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t count,
           CUdeviceptr a, CUdeviceptr pivots, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDnXgetrf");
  std::size_t device_bytes = 0, host_bytes = 0;
  s.check(s.api().cusolverDnXgetrf_bufferSize(s.handle, s.params, n, n, s.type, at<void>(a), n,
                                              s.type, &device_bytes, &host_bytes));
  s.allocate(device_bytes, host_bytes);
  for (std::int64_t i = 0; i < count; ++i)
    s.check(s.api().cusolverDnXgetrf(
        s.handle, s.params, n, n, s.type, at<void>(piece(a, i, n * n, s.bytes())), n,
        at<std::int64_t>(piece(pivots, i, n, 8)), s.type, s.work, s.work_bytes, s.host_work,
        s.host_bytes, at<int>(piece(info, i, 1, 4))));
}

void getrs(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t nrhs,
           std::int64_t count, CUdeviceptr a, CUdeviceptr pivots, CUdeviceptr b, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDnXgetrs");
  for (std::int64_t i = 0; i < count; ++i)
    s.check(s.api().cusolverDnXgetrs(
        s.handle, s.params, blas::OP_N, n, nrhs, s.type, at<void>(piece(a, i, n * n, s.bytes())), n,
        at<std::int64_t>(piece(pivots, i, n, 8)), s.type,
        at<void>(piece(b, i, n * nrhs, s.bytes())), n, at<int>(piece(info, i, 1, 4))));
}

void potrf(const StreamState& stream, DType dtype, bool upper, std::int64_t n, std::int64_t count,
           CUdeviceptr a, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDnXpotrf");
  int fill = upper ? ::td::solver::FILL_UPPER : ::td::solver::FILL_LOWER;
  std::size_t device_bytes = 0, host_bytes = 0;
  s.check(s.api().cusolverDnXpotrf_bufferSize(s.handle, s.params, fill, n, s.type, at<void>(a), n,
                                              s.type, &device_bytes, &host_bytes));
  s.allocate(device_bytes, host_bytes);
  for (std::int64_t i = 0; i < count; ++i)
    s.check(s.api().cusolverDnXpotrf(
        s.handle, s.params, fill, n, s.type, at<void>(piece(a, i, n * n, s.bytes())), n, s.type,
        s.work, s.work_bytes, s.host_work, s.host_bytes, at<int>(piece(info, i, 1, 4))));
}

bool potrf_batched_supported(const DeviceState& device) {
  const SolverLibrary& library = solver_library(device.provider());
  const SolverApi& api = library.api;
  return library.usable() && api.cusolverDnSpotrfBatched && api.cusolverDnDpotrfBatched &&
         api.cusolverDnCpotrfBatched && api.cusolverDnZpotrfBatched;
}

void potrf_batched(const StreamState& stream, DType dtype, bool upper, std::int64_t n,
                   std::int64_t count, CUdeviceptr matrices, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDn<t>potrfBatched");
  int fill = upper ? ::td::solver::FILL_UPPER : ::td::solver::FILL_LOWER;
  int size = s.narrow(n), matrix_count = s.narrow(count);
  auto call = [&]<class T>(cusolverStatus_t (*function)(cusolverDnHandle_t, cublasFillMode_t, int,
                                                        T**, int, int*, int)) {
    s.check(function(s.handle, fill, size, at<T*>(matrices), size, at<int>(info), matrix_count));
  };
  if (dtype == DType::float32)
    call(s.api().cusolverDnSpotrfBatched);
  else if (dtype == DType::float64)
    call(s.api().cusolverDnDpotrfBatched);
  else if (dtype == DType::complex64)
    call(s.api().cusolverDnCpotrfBatched);
  else
    call(s.api().cusolverDnZpotrfBatched);
}

void geqrf(const StreamState& stream, DType dtype, std::int64_t m, std::int64_t n,
           std::int64_t count, CUdeviceptr a, CUdeviceptr tau, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDnXgeqrf");
  std::size_t device_bytes = 0, host_bytes = 0;
  s.check(s.api().cusolverDnXgeqrf_bufferSize(s.handle, s.params, m, n, s.type, at<void>(a), m,
                                              s.type, at<void>(tau), s.type, &device_bytes,
                                              &host_bytes));
  s.allocate(device_bytes, host_bytes);
  for (std::int64_t i = 0; i < count; ++i)
    s.check(s.api().cusolverDnXgeqrf(
        s.handle, s.params, m, n, s.type, at<void>(piece(a, i, m * n, s.bytes())), m, s.type,
        at<void>(piece(tau, i, std::min(m, n), s.bytes())), s.type, s.work, s.work_bytes,
        s.host_work, s.host_bytes, at<int>(piece(info, i, 1, 4))));
}

void orgqr(const StreamState& stream, DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
           std::int64_t count, CUdeviceptr a, CUdeviceptr tau, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDn<t>orgqr");
  const SolverApi& api = s.api();
  switch (dtype) {
    case DType::float32:
      return make_q(s, api.cusolverDnSorgqr_bufferSize, api.cusolverDnSorgqr, m, n, k, count, a,
                    tau, info);
    case DType::float64:
      return make_q(s, api.cusolverDnDorgqr_bufferSize, api.cusolverDnDorgqr, m, n, k, count, a,
                    tau, info);
    case DType::complex64:
      return make_q(s, api.cusolverDnCungqr_bufferSize, api.cusolverDnCungqr, m, n, k, count, a,
                    tau, info);
    default:
      return make_q(s, api.cusolverDnZungqr_bufferSize, api.cusolverDnZungqr, m, n, k, count, a,
                    tau, info);
  }
}

void syevd(const StreamState& stream, DType dtype, bool vectors, bool upper, std::int64_t n,
           std::int64_t count, CUdeviceptr a, CUdeviceptr w, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDnXsyevd");
  int mode = vectors ? ::td::solver::VECTOR : ::td::solver::NOVECTOR;
  int fill = upper ? ::td::solver::FILL_UPPER : ::td::solver::FILL_LOWER;
  std::size_t device_bytes = 0, host_bytes = 0;
  s.check(s.api().cusolverDnXsyevd_bufferSize(s.handle, s.params, mode, fill, n, s.type,
                                              at<void>(a), n, s.real, at<void>(w), s.type,
                                              &device_bytes, &host_bytes));
  s.allocate(device_bytes, host_bytes);
  for (std::int64_t i = 0; i < count; ++i)
    s.check(s.api().cusolverDnXsyevd(
        s.handle, s.params, mode, fill, n, s.type, at<void>(piece(a, i, n * n, s.bytes())), n,
        s.real, at<void>(piece(w, i, n, s.real_bytes())), s.type, s.work, s.work_bytes, s.host_work,
        s.host_bytes, at<int>(piece(info, i, 1, 4))));
}

void gesvd(const StreamState& stream, DType dtype, char job, std::int64_t m, std::int64_t n,
           std::int64_t count, CUdeviceptr a, CUdeviceptr s_values, CUdeviceptr u, CUdeviceptr vt,
           CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDnXgesvd");
  auto jobs = static_cast<signed char>(job);
  std::int64_t columns = job == 'A' ? m : n;
  std::size_t device_bytes = 0, host_bytes = 0;
  s.check(s.api().cusolverDnXgesvd_bufferSize(
      s.handle, s.params, jobs, jobs, m, n, s.type, at<void>(a), m, s.real, at<void>(s_values),
      s.type, at<void>(u), m, s.type, at<void>(vt), n, s.type, &device_bytes, &host_bytes));
  s.allocate(device_bytes, host_bytes);
  for (std::int64_t i = 0; i < count; ++i)
    s.check(s.api().cusolverDnXgesvd(
        s.handle, s.params, jobs, jobs, m, n, s.type, at<void>(piece(a, i, m * n, s.bytes())), m,
        s.real, at<void>(piece(s_values, i, n, s.real_bytes())), s.type,
        at<void>(piece(u, i, m * columns, s.bytes())), m, s.type,
        at<void>(piece(vt, i, n * n, s.bytes())), n, s.type, s.work, s.work_bytes, s.host_work,
        s.host_bytes, at<int>(piece(info, i, 1, 4))));
}

void geev(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t count, CUdeviceptr a,
          CUdeviceptr w, CUdeviceptr vr, CUdeviceptr info) {
  Session s(stream, dtype, "cusolverDnXgeev");
  s.require(s.api().cusolverDnXgeev_bufferSize);
  s.require(s.api().cusolverDnXgeev);
  constexpr int kNone = ::td::solver::NOVECTOR;
  int mode = vr ? ::td::solver::VECTOR : kNone;
  std::size_t device_bytes = 0, host_bytes = 0;
  s.check(s.api().cusolverDnXgeev_bufferSize(
      s.handle, s.params, kNone, mode, n, s.type, at<void>(a), n, s.complex, at<void>(w), s.type,
      nullptr, n, s.type, at<void>(vr), n, s.type, &device_bytes, &host_bytes));
  s.allocate(device_bytes, host_bytes);
  for (std::int64_t i = 0; i < count; ++i)
    s.check(s.api().cusolverDnXgeev(
        s.handle, s.params, kNone, mode, n, s.type, at<void>(piece(a, i, n * n, s.bytes())), n,
        s.complex, at<void>(piece(w, i, n, s.complex_bytes())), s.type, nullptr, n, s.type,
        at<void>(piece(vr, i, n * n, s.bytes())), n, s.type, s.work, s.work_bytes, s.host_work,
        s.host_bytes, at<int>(piece(info, i, 1, 4))));
}

}  // namespace solver

}  // namespace td::driver
