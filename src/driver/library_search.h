// Finds and opens NVIDIA's libraries (NVRTC, cuBLAS, …) at run time. Nothing of NVIDIA is linked.
//
// Search order, per library name in the order given: already loaded in this process;
// TREADLE_LIBRARY_PATH (folders separated by ':'); the list set by set_library_search_path (Python
// puts the lib folders of the wheel packages there); CUDA_PATH and CUDA_HOME (their lib64, lib and
// targets folders); /usr/local/cuda*/lib64, newest first; the system's loader.
// TREADLE_LIBRARY_PATH=none opens nothing at all: a machine without NVIDIA software, for tests.
#pragma once

#include <string>
#include <vector>

namespace td::driver {

// Folders that hold shared libraries themselves. Replaces the list; call it before the first
// open_library.
void set_library_search_path(std::vector<std::string> folders);

struct Library {
  void* handle = nullptr;  // for dlsym; never closed
  std::string name;        // the candidate that was opened, "libnvrtc.so.13"
  std::string file;        // the file really loaded, symbolic links resolved
  std::string problem;     // when handle is null: what was tried, why it failed, the cure
  explicit operator bool() const { return handle != nullptr; }
};

// Opens the first of `names` that can be. `companion` ("libnvrtc-builtins.so"): a library that the
// opened one will look for by name later; where a file of that prefix lies beside it, it is opened
// first, by its full path, so that a library from one folder never meets a companion from another.
// `package` is the wheel package that the cure names.
Library open_library(const std::vector<std::string>& names, const std::string& companion = "",
                     const std::string& package = "");

// The file that open_library would take for these names, found without opening anything; "" when
// none lies in a folder that it can list (the system's loader may still know one).
std::string find_library_file(const std::vector<std::string>& names);

// The file that holds `address`, symbolic links resolved; "" when unknown.
std::string file_of_address(const void* address);

}  // namespace td::driver
