#include "base/plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/build_id.h"

namespace td::base {

namespace {

std::atomic<bool> loaded{false};

std::string plugin_path() {
  if (const char* file = std::getenv("TREADLE_CC"); file && *file) return file;
  return library_folder() + "libtreadle_cc.so";
}

// The static objects of the compiler's libraries are made while the plug-in is opened, and exit()
// destroys those that are there in reverse order. An exit while another thread still makes some
// would destroy what the rest is built on. So the main thread, which ends nearly every process,
// first waits for an opening in progress, and none begins any more: exit() destroys the
// thread_local objects of its thread before anything that is registered with atexit.
std::atomic<pid_t> opening{0};  // by a thread of this process; the child of a fork has no such one
std::atomic<bool> ending{false};
std::atomic<void (*)()> first{nullptr};  // of before_exit_handlers

struct EndOfMainThread {
  ~EndOfMainThread() {
    if (syscall(SYS_gettid) != getpid()) return;
    ending = true;
    while (opening == getpid()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (auto function = first.load()) function();
  }
  void exists() {}
};
thread_local EndOfMainThread end_of_main_thread;
// The main thread is most often the one that loads this library.
[[maybe_unused]] const bool watched = (end_of_main_thread.exists(), true);

struct Plugin {
  std::string path = plugin_path();
  std::string problem;
  void* handle = nullptr;

  Plugin() {
    end_of_main_thread.exists();
    opening = getpid();
    if (ending)
      problem = path + " is not opened while the process ends";
    else
      open();
    opening = 0;
  }

  void open() {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      loaded = true;
    else
      problem = path + ": " + dlerror();
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

// Asked for once: dladdr waits while another thread opens the plug-in.
std::string library_folder() {
  static const std::string& folder = *[] {
    Dl_info here{};
    bool known = dladdr(reinterpret_cast<void*>(&cc_plugin_symbol), &here) && here.dli_fname;
    std::string path = known ? here.dli_fname : "";
    return new std::string(path.substr(0, path.rfind('/') + 1));
  }();
  return folder;
}

std::string cc_plugin_stamp() {
  std::string path = plugin_path();
  if (std::string id = build_id(path); !id.empty()) return "build " + id;
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return path;
  return path + ':' + std::to_string(file.st_size) + ':' + std::to_string(file.st_mtim.tv_sec) +
         '.' + std::to_string(file.st_mtim.tv_nsec);
}

bool cc_plugin_loaded() { return loaded; }

void before_exit_handlers(void (*function)()) {
  end_of_main_thread.exists();
  first = function;
}

}  // namespace td::base
