#include "base/text.h"
#include "driver/state.h"

namespace td::driver {

namespace {

// The text of a log buffer without its padding.
std::string trimmed(const std::vector<char>& buffer) {
  std::string text(buffer.data());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

LoadedModule::LoadedModule(std::shared_ptr<DeviceState> device, const std::string& image)
    : device_(std::move(device)), generation_(device_->generation()) {
  device_->make_current();
  std::vector<char> log(16384, 0);
  CUjit_option options[] = {cuda::JIT_ERROR_LOG_BUFFER, cuda::JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  // std::string ends with a null byte, so an image of PTX text is terminated as the driver wants
  // it.
  CUresult result = device_->api().cuModuleLoadDataEx(&handle_, image.data(), 2, options, values);
  if (result == 0) return;
  handle_ = nullptr;
  std::string text = trimmed(log);
  fail(*device_, result, "cuModuleLoadDataEx", text.empty() ? text : "the driver's log: " + text);
}

LoadedModule::~LoadedModule() {
  if (!handle_ || !alive()) return;
  try {
    device_->make_current();
  } catch (const Error&) {
    return;  // the context is gone, and the module with it
  }
  device_->api().cuModuleUnload(handle_);
}

CUfunction LoadedModule::function(const char* symbol) const {
  require_alive();
  device_->make_current();
  CUfunction function = nullptr;
  CUresult result = device_->api().cuModuleGetFunction(&function, handle_, symbol);
  if (result != 0)
    fail(*device_, result, "cuModuleGetFunction",
         base::cat("kernel \"", symbol,
                   "\"; declare it extern \"C\" __global__, or ask by its mangled name"));
  return function;
}

std::pair<CUdeviceptr, std::size_t> LoadedModule::global(const char* symbol) const {
  require_alive();
  device_->make_current();
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  CUresult result = device_->api().cuModuleGetGlobal(&address, &bytes, handle_, symbol);
  if (result != 0)
    fail(
        *device_, result, "cuModuleGetGlobal",
        base::cat("variable \"", symbol,
                  "\"; define it inside an extern \"C\" { } block, as __device__ or __constant__"));
  return {address, bytes};
}

void LoadedModule::require_alive() const {
  if (!alive())
    fail(*device_, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED, "module",
         "the module was loaded before the device was reset; load it again");
}

}  // namespace td::driver
