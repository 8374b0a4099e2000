#include "driver/library_search.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "base/log.h"
#include "base/text.h"

namespace td::driver {

namespace {

namespace fs = std::filesystem;

std::mutex mutex;
std::vector<std::string>& search_path() {
  static auto& folders = *new std::vector<std::string>;
  return folders;
}

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

void add_toolkit(std::vector<std::string>& folders, const std::string& root) {
  if (root.empty()) return;
  for (const char* part :
       {"/lib64", "/lib", "/targets/x86_64-linux/lib", "/targets/sbsa-linux/lib"})
    folders.push_back(root + part);
}

// /usr/local/cuda, then /usr/local/cuda-13.0, /usr/local/cuda-12.9, … newest first.
std::vector<std::string> installed_toolkits() {
  std::vector<std::pair<std::pair<int, int>, std::string>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
    int major = 0, minor = 0;
    if (std::sscanf(entry.path().filename().c_str(), "cuda-%d.%d", &major, &minor) >= 1)
      found.push_back({{major, minor}, entry.path().string()});
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> roots{"/usr/local/cuda"};
  for (auto& item : found) roots.push_back(std::move(item.second));
  return roots;
}

std::vector<std::string> candidate_folders() {
  std::vector<std::string> folders;
  for (std::string& part : base::split(environment("TREADLE_LIBRARY_PATH"), ':'))
    if (!part.empty()) folders.push_back(std::move(part));
  {
    std::lock_guard lock(mutex);
    folders.insert(folders.end(), search_path().begin(), search_path().end());
  }
  add_toolkit(folders, environment("CUDA_PATH"));
  add_toolkit(folders, environment("CUDA_HOME"));
  for (const std::string& root : installed_toolkits()) add_toolkit(folders, root);
  return folders;
}

void open_companion(const fs::path& folder, const std::string& prefix) {
  if (prefix.empty()) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.rfind(prefix + ".", 0) != 0)
      continue;  // a real file name has its version behind the prefix
    if (dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL)) return;
  }
}

std::string last_dl_error() {
  const char* text = dlerror();
  return text ? text : "unknown error";
}

std::string file_of_link(void* handle) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return "";
  std::error_code error;
  fs::path real = fs::canonical(map->l_name, error);
  return error ? std::string(map->l_name) : real.string();
}

bool is_stub_folder(const std::string& file) { return file.find("/stubs/") != std::string::npos; }

void finish(Library& library, void* handle, const std::string& name) {
  library.handle = handle;
  library.name = name;
  library.file = file_of_link(handle);
  library.problem.clear();
  base::log(base::LogLevel::info, "loaded " + library.file);
}

}  // namespace

void set_library_search_path(std::vector<std::string> folders) {
  std::lock_guard lock(mutex);
  search_path() = std::move(folders);
}

Library open_library(const std::vector<std::string>& names, const std::string& companion,
                     const std::string& package) {
  Library library;
  if (environment("TREADLE_LIBRARY_PATH") == "none") {
    library.problem = "not looked for: TREADLE_LIBRARY_PATH=none hides all of NVIDIA's libraries";
    return library;
  }
  const std::vector<std::string> folders = candidate_folders();
  std::string failures;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
      finish(library, handle, name);
      return library;
    }
    for (const std::string& folder : folders) {
      fs::path file = fs::path(folder) / name;
      std::error_code error;
      if (is_stub_folder(file.string()) || !fs::exists(file, error)) continue;
      open_companion(folder, companion);
      if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        finish(library, handle, name);
        return library;
      }
      failures += "; " + last_dl_error();
    }
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      finish(library, handle, name);
      return library;
    }
    std::string reason = last_dl_error();
    if (reason.find("No such file") == std::string::npos) failures += "; " + reason;
  }
  library.problem = base::cat("none of ", base::join(names, ", "), " could be opened", failures,
                              "; install ", package.empty() ? "the CUDA toolkit" : package,
                              ", or name its folder in CUDA_PATH or TREADLE_LIBRARY_PATH");
  return library;
}

std::string find_library_file(const std::vector<std::string>& names) {
  if (environment("TREADLE_LIBRARY_PATH") == "none") return "";
  std::vector<std::string> folders = candidate_folders();
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
    folders.emplace_back(folder);
  std::error_code error;
  for (const std::string& name : names)
    for (const std::string& folder : folders) {
      fs::path file = fs::path(folder) / name;
      if (is_stub_folder(file.string()) || !fs::exists(file, error)) continue;
      fs::path real = fs::canonical(file, error);
      return error ? file.string() : real.string();
    }
  return "";
}

std::string file_of_address(const void* address) {
  Dl_info info{};
  if (!address || !dladdr(address, &info) || !info.dli_fname) return "";
  std::error_code error;
  fs::path real = fs::canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : real.string();
}

}  // namespace td::driver
