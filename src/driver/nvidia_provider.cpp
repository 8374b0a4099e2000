// The NVIDIA provider: libcuda.so.1, opened at run time. The toolkit's link-time stub has the same
// soname and can be found first through LD_LIBRARY_PATH; it is recognised by its folder or by
// cuInit's answer 34 and passed over.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "driver/diagnosis.h"
#include "driver/library_search.h"
#include "driver/provider.h"
#include "driver/provider_fill.h"

namespace td::driver {

namespace {

// Tried in order. By name first: that is what every other CUDA program of the process gets.
constexpr const char* kPlaces[] = {
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
};

struct Opened {
  void* handle = nullptr;
  std::string file;
  std::string stub;      // a stub that was passed over
  std::string failures;  // loader messages other than "no such file"
};

bool is_stub(void* handle, const std::string& file) {
  if (file.find("/stubs/") != std::string::npos) return true;
  auto init = reinterpret_cast<decltype(Api::cuInit)>(dlsym(handle, "cuInit"));
  return init && init(0) == cuda::CUDA_ERROR_STUB_LIBRARY;
}

void try_place(Opened& opened, const char* place) {
  void* handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    if (reason && !std::string_view(reason).ends_with("No such file or directory"))
      opened.failures += base::cat(opened.failures.empty() ? "" : "; ", reason);
    return;
  }
  void* init = dlsym(handle, "cuInit");
  std::string file = file_of_address(init);
  if (!init) {
    opened.failures += base::cat(opened.failures.empty() ? "" : "; ", place, " has no cuInit");
  } else if (is_stub(handle, file)) {
    opened.stub = file;
  } else {
    opened.handle = handle;
    opened.file = file;
    return;
  }
  dlclose(handle);
}

Opened open_driver(const char* override_file) {
  Opened opened;
  if (override_file) {
    try_place(opened, override_file);
    return opened;
  }
  for (const char* place : kPlaces) {
    try_place(opened, place);
    if (opened.handle) break;
  }
  return opened;
}

std::string explain_not_opened(const Opened& opened, const char* override_file) {
  if (override_file)
    return base::cat("TREADLE_LIBCUDA=", override_file, " cannot be used: ",
                     !opened.stub.empty()      ? "it is the toolkit's link-time stub, not a driver"
                     : opened.failures.empty() ? "no such file"
                                               : opened.failures,
                     "; name a driver library, or unset the variable");
  std::string stub =
      opened.stub.empty()
          ? ""
          : base::cat("the only libcuda.so.1 found, ", opened.stub,
                      ", is the toolkit's link-time stub and no driver (take its folder out of "
                      "LD_LIBRARY_PATH); ");
  std::string failures =
      opened.failures.empty() ? "" : base::cat("; the loader said: ", opened.failures);
  return stub + explain_missing_driver() + failures;
}

Provider open_nvidia() {
  Provider provider;
  provider.prefix = "cuda";
  provider.evidence = "NVIDIA GPU";
  provider.image_format = base::ImageFormat::cubin;
  clear_api(provider.api);
  const char* override_file = std::getenv("TREADLE_LIBCUDA");
  if (override_file && (!*override_file || override_file == std::string_view("none"))) {
    fail_rung(provider, "driver library",
              "the NVIDIA driver is hidden by TREADLE_LIBCUDA; unset the variable to look for it");
    return provider;
  }
  Opened opened = open_driver(override_file);
  if (!opened.handle) {
    fail_rung(provider, "driver library", explain_not_opened(opened, override_file));
    return provider;
  }
  provider.file = opened.file;
  auto resolve = [](void* handle, const char* symbol) { return dlsym(handle, symbol); };
  std::string missing = fill_api(provider.api, resolve, opened.handle);
  if (!missing.empty()) {
    fail_rung(provider, "driver library",
              base::cat(opened.file, " lacks ", missing,
                        "; update the NVIDIA driver to one for CUDA 12 or newer"));
    return provider;
  }
  provider.rungs.push_back({"driver library", true, opened.file});
  start_provider(provider, explain_init_failure);
  return provider;
}

}  // namespace

const Provider& nvidia_provider() {
  static const Provider& provider = *new Provider(open_nvidia());  // outlives every static object
  return provider;
}

}  // namespace td::driver
