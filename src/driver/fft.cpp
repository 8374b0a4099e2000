#include "driver/fft.h"

#include <list>
#include <map>
#include <optional>

#include "base/text.h"
#include "driver/call_counts.h"
#include "driver/result_row.h"

namespace td::driver {

namespace {

// ---- the library ----

// CUDA 13 brings cuFFT 12, and CUDA 12 brings cuFFT 11.
std::vector<std::string> library_names(int driver_version) {
  std::vector<std::string> names;
  if (driver_version >= 13000) names.push_back("libcufft.so.12");
  names.push_back("libcufft.so.11");
  return names;
}

std::string fill(FftApi& api, Resolve resolve, void* context) {
  std::string missing;
#define TD_FFT_API(symbol, since, params)                                             \
  api.symbol = reinterpret_cast<decltype(FftApi::symbol)>(resolve(context, #symbol)); \
  if (!api.symbol && since == 0 && missing.empty()) missing = #symbol;
#include "fft_api.def"
  return missing;
}

LibraryFacts facts_of(const Provider& provider) {
  return {library_names(provider.driver_version),
          "",
          "nvidia-cufft",
          "Fourier transforms",
          "build again with -DTREADLE_SOFTDEV=ON",
          "the cuFFT of CUDA 12 or newer"};
}

constexpr ResultRow kStatus[] = {
#define TD_ROW(value, name, meaning, cure) {value, #name, meaning, cure},
    TD_CUFFT_RESULTS(TD_ROW)
#undef TD_ROW
};

void check_fft(const FftLibrary& library, cufftResult status, const char* call) {
  if (status == fft_abi::CUFFT_SUCCESS) return;
  const ResultRow* known = find(kStatus, status);
  const ResultRow row = known ? *known : ResultRow{status, "CUFFT", "an unknown status", ""};
  throw DriverError(base::cat(call, " failed: ", row.name, " (", status, "): ", row.meaning, " (",
                              library.file, ")", *row.cure ? "; " : "", row.cure),
                    status, row.name, call);
}

#define TD_FFT(library, function, ...) \
  check_fft(library, (library).api.function(__VA_ARGS__), #function)

// ---- plans ----

int type_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return blas::R_32F;
    case DType::float64:
      return blas::R_64F;
    case DType::complex64:
      return blas::C_32F;
    default:
      return blas::C_64F;
  }
}

struct Plan {
  FftLayout layout;
  cufftHandle handle = 0;
  std::size_t work_bytes = 0;
};

// The plans of one device, the last used first; one user at a time.
struct Plans {
  std::mutex mutex;
  std::list<Plan> plans;
  std::uint64_t generation = 0;
};
constexpr std::size_t kMostPlans = 64;

Plans& plans_of(const DeviceState& device) {
  static std::mutex mutex;
  static auto& plans = *new std::map<const DeviceState*, Plans>;
  std::lock_guard lock(mutex);
  return plans[&device];
}

Plan make_plan(const FftLibrary& library, const FftLayout& layout) {
  Plan plan{layout, 0, 0};
  TD_FFT(library, cufftCreate, &plan.handle);
  try {
    TD_FFT(library, cufftSetAutoAllocation, plan.handle, 0);
    std::vector<long long> n(layout.n.begin(), layout.n.end()), in = n, out = n;
    bool real_in = info(layout.in).kind == 'f', real_out = info(layout.out).kind == 'f';
    if (real_in) out.back() = n.back() / 2 + 1;
    if (real_out) in.back() = n.back() / 2 + 1;
    int in_type = type_of(layout.in), out_type = type_of(layout.out);
    TD_FFT(library, cufftXtMakePlanMany, plan.handle, static_cast<int>(n.size()), n.data(),
           in.data(), layout.stride, layout.in_dist, in_type, out.data(), layout.stride,
           layout.out_dist, out_type, layout.batch, &plan.work_bytes, real_in ? out_type : in_type);
  } catch (...) {
    library.api.cufftDestroy(plan.handle);
    throw;
  }
  return plan;
}

Plan& plan_for(const FftLibrary& library, Plans& kept, const FftLayout& layout) {
  auto& plans = kept.plans;
  for (auto it = plans.begin(); it != plans.end(); ++it)
    if (it->layout == layout) {
      plans.splice(plans.begin(), plans, it);
      return plans.front();
    }
  plans.push_front(make_plan(library, layout));
  if (plans.size() > kMostPlans) {
    library.api.cufftDestroy(plans.back().handle);
    plans.pop_back();
  }
  return plans.front();
}

}  // namespace

const FftLibrary& fft_library(const Provider& provider) {
  return math_library<FftApi>(provider, facts_of, fill);
}

void fft(const StreamState& stream, const FftLayout& layout, bool inverse, CUdeviceptr in,
         CUdeviceptr out) {
  DeviceState& device = stream.device();
  device.make_current();
  const FftLibrary& library = fft_library(device.provider());
  if (!library.usable()) throw NotSupported("fft: " + library.problem);
  Plans& kept = plans_of(device);
  std::lock_guard lock(kept.mutex);
  if (kept.generation != device.generation()) {
    kept.plans.clear();  // the context that they belonged to is gone
    kept.generation = device.generation();
  }
  const Plan& plan = plan_for(library, kept, layout);
  TD_FFT(library, cufftSetStream, plan.handle, stream.handle());
  std::optional<Memory> work;
  if (plan.work_bytes) {
    work.emplace(stream.device_ptr(), plan.work_bytes, stream.handle());
    TD_FFT(library, cufftSetWorkArea, plan.handle, reinterpret_cast<void*>(work->address()));
  }
  TD_FFT(library, cufftXtExec, plan.handle, reinterpret_cast<void*>(in),
         reinterpret_cast<void*>(out), inverse ? fft_abi::INVERSE : fft_abi::FORWARD);
  note_library_call();
}

}  // namespace td::driver
