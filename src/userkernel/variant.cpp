#include "userkernel/variant.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace td::userkernel {
namespace {

compile::Source source_of(const std::string& text, const std::string& file,
                          const std::vector<std::string>& options) {
  static const bool print = std::getenv("TREADLE_PRINT_KERNELS") != nullptr;
  if (print) std::fprintf(stderr, "%s\n", text.c_str());
  compile::Source source;
  source.text = text;
  source.options.file_name = file;
  source.options.options = options;
  return source;
}

}  // namespace

Variant::Variant(std::string text, const std::string& file, const std::vector<std::string>& options)
    : text_(std::move(text)), module_(source_of(text_, file, options)) {}

CUfunction Variant::function(const std::shared_ptr<driver::DeviceState>& device,
                             const std::string& name) {
  std::lock_guard lock(mutex_);
  auto& row = loaded_[{device.get(), name}];
  if (!row.module || row.generation != device->generation()) {
    auto module = module_.loaded(device);
    row = {device->generation(), module, module->function(name.c_str())};
  }
  return row.function;
}

std::size_t Variant::size_of(const std::shared_ptr<driver::DeviceState>& device,
                             const std::string& name) {
  return module_.loaded(device)->global(name.c_str()).second;
}

Variant& Variants::get(const std::string& key, const std::vector<DType>& dtypes,
                       const std::function<std::string()>& print, const std::string& file,
                       const std::vector<std::string>& options) {
  std::lock_guard lock(mutex_);
  Row& row = rows_[key];
  if (!row.variant) row = {dtypes, std::make_unique<Variant>(print(), file, options)};
  return *row.variant;
}

std::vector<std::pair<std::vector<DType>, std::string>> Variants::codes() {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<std::vector<DType>, std::string>> result;
  for (const auto& [key, row] : rows_) result.emplace_back(row.dtypes, row.variant->text());
  return result;
}

void launch(driver::DeviceState& device, CUfunction function, const std::string& name,
            std::int64_t blocks, unsigned threads, fuse::Arguments& arguments, CUstream stream) {
  auto grid = static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, 0x7fffffff));
  device.make_current();
  device.launches().note(name, "");
  TD_CALL(device, cuLaunchKernel, function, grid, 1, 1, threads, 1, 1, 0, stream, arguments.data(),
          nullptr);
}

}  // namespace td::userkernel
