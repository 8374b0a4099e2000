#include "base/plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace td::base {

namespace {

std::atomic<bool> loaded{false};

std::string plugin_path() {
  if (const char* file = std::getenv("TREADLE_CC"); file && *file) return file;
  Dl_info here{};
  if (!dladdr(reinterpret_cast<void*>(&cc_plugin_symbol), &here) || !here.dli_fname)
    return "libtreadle_cc.so";
  std::string path = here.dli_fname;
  std::size_t slash = path.rfind('/');
  return (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + "libtreadle_cc.so";
}

struct Plugin {
  std::string path = plugin_path();
  std::string problem;
  void* handle = nullptr;

  Plugin() {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle) {
      loaded = true;
    } else {
      problem = path + ": " + dlerror();
    }
  }
};

}  // namespace

void* cc_plugin_symbol(const char* name, std::string* why) {
  // Leaked on purpose: worker threads may still run its code when static objects are destroyed.
  static Plugin& plugin = *new Plugin;
  if (!plugin.handle) {
    if (why) *why = plugin.problem;
    return nullptr;
  }
  void* symbol = dlsym(plugin.handle, name);
  if (!symbol && why) *why = plugin.path + " has no symbol " + name;
  return symbol;
}

std::string cc_plugin_file() { return plugin_path(); }

std::string cc_plugin_stamp() {
  std::string path = plugin_path();
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return path;
  return path + ':' + std::to_string(file.st_size) + ':' + std::to_string(file.st_mtim.tv_sec) +
         '.' + std::to_string(file.st_mtim.tv_nsec);
}

bool cc_plugin_loaded() { return loaded; }

}  // namespace td::base
