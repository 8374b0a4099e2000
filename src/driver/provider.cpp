#include "driver/provider.h"

#include "base/soft_entry.h"
#include "base/text.h"
#include "driver/provider_fill.h"
#include "driver/state.h"

namespace td::driver {

namespace {

constexpr const char* kRungs[] = {"driver library", "cuInit", "device count"};

Provider open_software() {
  Provider provider;
  provider.prefix = "soft";
  provider.evidence = "software device";
  provider.software = true;
  provider.image_format = base::ImageFormat::llvm_bitcode;
  provider.file = "(built in)";
  clear_api(provider.api);
  auto resolve = [](void*, const char* symbol) { return base::soft_driver_symbol(symbol); };
  if (!base::soft_driver_symbol("cuInit")) {
    fail_rung(provider, kRungs[0],
              "this build has no software device (-DTREADLE_SOFTDEV=OFF); build with LLVM 19 and "
              "-DTREADLE_SOFTDEV=ON to get one");
    return provider;
  }
  std::string missing = fill_api(provider.api, resolve, nullptr);
  if (!missing.empty()) {
    fail_rung(provider, kRungs[0], "the software device lacks " + missing);
    return provider;
  }
  provider.last_fault =
      reinterpret_cast<const char* (*)()>(base::soft_driver_symbol("td_soft_last_fault"));
  provider.library_symbol = base::soft_library_symbol;
  provider.rungs.push_back({kRungs[0], true, provider.file});
  start_provider(provider, [](CUresult result, const std::string&) {
    std::string cure = result_cure(result);
    return result_meaning(result) + (cure.empty() ? "" : "; " + cure);
  });
  return provider;
}

}  // namespace

void clear_api(Api& api) {
#define TD_DRIVER_API(name, symbol, since, params) \
  api.name = &NotSupported<decltype(Api::name)>::call;
#include "driver_api.def"
}

std::string fill_api(Api& api, void* (*resolve)(void* context, const char* symbol), void* context) {
  std::vector<std::string> missing;
#define TD_DRIVER_API(name, symbol, since, params)             \
  if (void* address = resolve(context, #symbol))               \
    api.name = reinterpret_cast<decltype(Api::name)>(address); \
  else if (since == 0)                                         \
    missing.push_back(#symbol);
#include "driver_api.def"
  if (missing.empty()) return "";
  std::size_t more = missing.size() > 3 ? missing.size() - 3 : 0;
  missing.resize(missing.size() - more);
  return base::join(missing, ", ") + (more ? base::cat(" and ", more, " more functions") : "");
}

void fail_rung(Provider& provider, const char* rung, const std::string& problem) {
  provider.problem = problem;
  bool after = false;
  for (const char* name : kRungs) {
    if (after) provider.rungs.push_back({name, false, "not reached"});
    if (name == std::string_view(rung)) {
      provider.rungs.push_back({name, false, problem});
      after = true;
    }
  }
}

void start_provider(Provider& provider, std::string (*explain_init)(CUresult, const std::string&)) {
  CUresult result = provider.api.cuInit(0);
  if (result != cuda::CUDA_SUCCESS) {
    fail_rung(provider, kRungs[1],
              base::cat("cuInit failed: ", result_name(result), " (", result,
                        "): ", explain_init(result, provider.file)));
    return;
  }
  provider.api.cuDriverGetVersion(&provider.driver_version);
  provider.rungs.push_back({kRungs[1], true, "CUDA " + version_text(provider.driver_version)});
  result = provider.api.cuDeviceGetCount(&provider.device_count);
  if (result != cuda::CUDA_SUCCESS || provider.device_count == 0) {
    provider.device_count = 0;
    fail_rung(provider, kRungs[2],
              "the driver started but shows no device: " +
                  explain_init(cuda::CUDA_ERROR_NO_DEVICE, provider.file));
    return;
  }
  provider.rungs.push_back({kRungs[2], true, base::cat(provider.device_count)});
}

std::string version_text(int version) {
  return base::cat(version / 1000, ".", version % 1000 / 10);
}

const Provider& software_provider() {
  static const Provider& provider = *new Provider(open_software());  // outlives every static object
  return provider;
}

std::vector<Rung> discovery(const Provider& provider) { return provider.rungs; }

}  // namespace td::driver
