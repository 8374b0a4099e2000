// One specialised text of a user kernel: its image for every kind of device, and its functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fuse/kernel_cache.h"
#include "launch/state.h"

namespace td::userkernel {

class Variant {
 public:
  Variant(std::string text, const std::string& file, const std::vector<std::string>& options);

  const std::string& text() const { return text_; }
  CUfunction function(const std::shared_ptr<driver::DeviceState>& device, const std::string& name);
  // Size of a __device__ variable.
  std::size_t size_of(const std::shared_ptr<driver::DeviceState>& device, const std::string& name);

 private:
  struct Loaded {
    std::uint64_t generation;
    std::shared_ptr<driver::LoadedModule> module;
    CUfunction function;
  };
  std::string text_;
  launch::ModuleState module_;
  std::mutex mutex_;
  std::map<std::pair<driver::DeviceState*, std::string>, Loaded> loaded_;
};

// The variants of one kernel by key. Thread-safe; a variant lives as long as this.
class Variants {
 public:
  Variant& get(const std::string& key, const std::vector<DType>& dtypes,
               const std::function<std::string()>& print, const std::string& file,
               const std::vector<std::string>& options);
  std::vector<std::pair<std::vector<DType>, std::string>> codes();

 private:
  struct Row {
    std::vector<DType> dtypes;
    std::unique_ptr<Variant> variant;
  };
  std::mutex mutex_;
  std::map<std::string, Row> rows_;
};

// The kernel's name inside its text: CUDA's own headers declare functions such as `norm`, which a
// kernel of that name would overload.
inline std::string entry_name(const std::string& kernel) { return "td_user_" + kernel; }

void launch(driver::DeviceState& device, CUfunction function, const std::string& name,
            std::int64_t blocks, unsigned threads, fuse::Arguments& arguments, CUstream stream);

}  // namespace td::userkernel
