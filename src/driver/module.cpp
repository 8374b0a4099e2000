#include <cstring>
#include <string_view>

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

template <class T>
T read_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// True for an ELF image whose end is missing: NVIDIA's driver reads past it and takes the process
// along. Offsets are those of the ELF64 header and section header.
bool is_cut_off(std::string_view image) {
  if (!image.starts_with("\x7f"
                         "ELF"))
    return false;
  constexpr std::size_t header = 64;
  if (image.size() < header) return true;
  auto ends_within = [&](std::uint64_t begin, std::uint64_t size) {
    return begin <= image.size() && size <= image.size() - begin;
  };
  std::uint64_t programs = read_at<std::uint64_t>(image, 32);
  std::uint64_t sections = read_at<std::uint64_t>(image, 40);
  std::uint64_t program_size = read_at<std::uint16_t>(image, 54);
  std::uint64_t program_count = read_at<std::uint16_t>(image, 56);
  std::uint64_t section_size = read_at<std::uint16_t>(image, 58);
  std::uint64_t section_count = read_at<std::uint16_t>(image, 60);
  if (!ends_within(programs, program_size * program_count)) return true;
  if (!ends_within(sections, section_size * section_count)) return true;
  if (section_count && section_size < header) return true;
  constexpr std::uint32_t no_bits = 8;
  for (std::uint64_t k = 0; k < section_count; ++k) {
    std::size_t at = sections + k * section_size;
    if (read_at<std::uint32_t>(image, at + 4) != no_bits &&
        !ends_within(read_at<std::uint64_t>(image, at + 24),
                     read_at<std::uint64_t>(image, at + 32)))
      return true;
  }
  return false;
}

// Calls load(count, options, values), the rest of a function that loads an image, with room for the
// driver's log; throws when it fails.
template <class Load>
void load_image(DeviceState& device, const std::string& image, const char* call, Load load) {
  if (is_cut_off(image))
    fail(device, cuda::CUDA_ERROR_INVALID_IMAGE, call,
         "the image is damaged: it ends before its sections do");
  std::vector<char> log(16384, 0);
  CUjit_option options[] = {cuda::JIT_ERROR_LOG_BUFFER, cuda::JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUresult result = load(2u, options, values);
  if (result == 0) return;
  std::string text = trimmed(log);
  fail(device, result, call, text.empty() ? text : "the driver's log: " + text);
}

}  // namespace

PreparedImage::PreparedImage(std::shared_ptr<DeviceState> device, const std::string& image)
    : device_(std::move(device)) {
  load_image(*device_, image, "cuLibraryLoadData",
             [&](unsigned count, CUjit_option* options, void** values) {
               return device_->api().cuLibraryLoadData(&handle_, image.data(), options, values,
                                                       count, nullptr, nullptr, 0);
             });
}

PreparedImage::~PreparedImage() { device_->api().cuLibraryUnload(handle_); }

// std::string ends with a null byte, so an image of PTX text is terminated as the driver wants it.
LoadedModule::LoadedModule(std::shared_ptr<DeviceState> device, const std::string& image)
    : device_(std::move(device)), generation_(device_->generation()) {
  device_->make_current();
  load_image(*device_, image, "cuModuleLoadDataEx",
             [&](unsigned count, CUjit_option* options, void** values) {
               return device_->api().cuModuleLoadDataEx(&handle_, image.data(), count, options,
                                                        values);
             });
}

LoadedModule::LoadedModule(std::shared_ptr<PreparedImage> image)
    : device_(image->device_ptr()),
      prepared_(std::move(image)),
      generation_(device_->generation()) {
  device_->make_current();
  TD_CALL(*device_, cuLibraryGetModule, &handle_, prepared_->handle());
}

LoadedModule::~LoadedModule() {
  if (!handle_ || prepared_ || !alive()) return;
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
