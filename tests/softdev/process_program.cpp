// One way to end, or to fork, a process that uses the software device; process_test.cpp runs each
// and looks at the exit status. Usage: softdev_process_program MODE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "base/plugin.h"
#include "softdev/api/soft_api.h"
#include "support.h"

using namespace td::cuda;
using td::softdev::test::image_of;

namespace {

CUmodule module;

#define MUST(call)                                                \
  if (CUresult result = td_soft_##call; result != CUDA_SUCCESS) { \
    std::printf("%s: %d\n", #call, result);                       \
    std::_Exit(99);                                               \
  }

void start() {
  CUcontext context = nullptr;
  MUST(cuInit(0));
  MUST(cuDevicePrimaryCtxRetain(&context, 0));
  MUST(cuCtxSetCurrent(context));
  MUST(cuModuleLoadDataEx(&module, image_of("kernels").data(), 0, nullptr, nullptr));
}

CUresult launch(const char* name, void** params, CUstream stream = nullptr) {
  CUfunction function = nullptr;
  MUST(cuModuleGetFunction(&function, module, name));
  return td_soft_cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, stream, params, nullptr);
}

// Runs a kernel and checks its result.
bool works() {
  CUdeviceptr out = 0;
  int n = 128, last = 0;
  void* params[] = {&out, &n};
  return td_soft_cuMemAlloc_v2(&out, 512) == CUDA_SUCCESS &&
         launch("triple", params) == CUDA_SUCCESS &&
         td_soft_cuMemcpyDtoH_v2(&last, out + 508, 4) == CUDA_SUCCESS && last == 381;
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int live_allocations() {
  start();
  CUdeviceptr a = 0;
  void* pinned = nullptr;
  MUST(cuMemAlloc_v2(&a, 1 << 20));
  MUST(cuMemHostAlloc(&pinned, 1000, 0));
  return works() ? 7 : 1;
}

int pending_work() {
  start();
  CUstream stream = nullptr;
  MUST(cuStreamCreateWithPriority(&stream, STREAM_NON_BLOCKING, 0));
  launch("spin", nullptr, stream);
  return 7;
}

int pending_host_function() {
  start();
  MUST(cuLaunchHostFunc(nullptr, [](void*) { pause(); }, nullptr));
  return 7;
}

int after_fault() {
  start();
  launch("trap", nullptr);
  return td_soft_cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED ? 7 : 1;
}

int fork_idle() {
  start();
  if (!works()) return 1;
  pid_t child = fork();
  if (child == 0) return works() && works() ? 5 : 2;
  return wait_for(child) == 5 && works() ? 7 : 3;
}

int fork_before_start() {
  pid_t child = fork();
  start();
  if (child == 0) return works() ? 5 : 2;
  return wait_for(child) == 5 && works() ? 7 : 3;
}

int fork_busy() {
  start();
  CUstream stream = nullptr;
  void* flag = nullptr;
  MUST(cuStreamCreateWithPriority(&stream, STREAM_NON_BLOCKING, 0));
  MUST(cuMemHostAlloc(&flag, 4, 0));
  void* params[] = {&flag};
  launch("wait_flag", params, stream);
  usleep(10000);
  pid_t child = fork();
  if (child == 0) {
    // A clear error instead of a wait for ever, and a reset helps.
    if (td_soft_cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED) return 2;
    CUcontext context = nullptr;
    MUST(cuDevicePrimaryCtxReset_v2(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuModuleLoadDataEx(&module, image_of("kernels").data(), 0, nullptr, nullptr));
    return works() ? 5 : 4;
  }
  int status = wait_for(child);
  *static_cast<volatile int*>(flag) = 1;
  MUST(cuCtxSynchronize());
  return status == 5 && works() ? 7 : 3;
}

int fork_from_many_threads() {
  start();
  std::thread noise([] {
    CUcontext context = nullptr;
    td_soft_cuDevicePrimaryCtxRetain(&context, 0);
    td_soft_cuCtxSetCurrent(context);
    for (int i = 0; i < 2000; ++i) {
      CUdeviceptr a = 0;
      td_soft_cuMemAlloc_v2(&a, 100);
      td_soft_cuMemsetD8_v2(a, 0, 100);
      td_soft_cuMemFree_v2(a);
    }
  });
  bool good = true;
  for (int i = 0; i < 20 && good; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      CUresult state = td_soft_cuCtxSynchronize();
      std::_Exit(state == CUDA_ERROR_NOT_INITIALIZED || (state == CUDA_SUCCESS && works()) ? 5 : 2);
    }
    good = wait_for(child) == 5;
  }
  noise.join();
  return good ? 7 : 3;
}

// Installed before the device: it must see the program's own faults, and only those.
void own_handler(int) { std::_Exit(42); }

__attribute__((no_sanitize("undefined"))) int own_fault(bool before) {
  if (before) signal(SIGSEGV, own_handler);
  start();
  if (!works()) return 1;
  CUdeviceptr bad = 8;
  long long offset = 0;
  int block = 0;
  void* params[] = {&bad, &offset, &block};
  launch("poke", params);
  if (td_soft_cuCtxSynchronize() != CUDA_ERROR_ILLEGAL_ADDRESS) return 2;
  volatile int* nothing = nullptr;
  asm volatile("" : "+r"(nothing));
  *nothing = 1;
  return 3;
}

// Second start with a warm cache: no compiler is opened.
int cached() {
  start();
  if (!works()) return 1;
  return td::base::cc_plugin_loaded() ? 2 : 7;
}

int no_compiler() {
  setenv("TREADLE_CC", "/nonexistent/libtreadle_cc.so", 1);
  CUcontext context = nullptr;
  MUST(cuInit(0));
  MUST(cuDevicePrimaryCtxRetain(&context, 0));
  MUST(cuCtxSetCurrent(context));
  char log[500] = "";
  CUjit_option options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUresult result =
      td_soft_cuModuleLoadDataEx(&module, image_of("kernels").data(), 2, options, values);
  return result == CUDA_ERROR_FILE_NOT_FOUND && std::strstr(log, "/nonexistent/libtreadle_cc.so")
             ? 7
             : 1;
}

// Before cuInit there is only one answer.
int not_initialised() {
  int count = 0;
  if (td_soft_cuDeviceGetCount(&count) != CUDA_ERROR_NOT_INITIALIZED) return 1;
  return td_soft_cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 7 : 2;
}

struct Mode {
  const char* name;
  int (*run)();
};
const Mode kModes[] = {
    {"live_allocations", live_allocations},
    {"pending_work", pending_work},
    {"pending_host_function", pending_host_function},
    {"after_fault", after_fault},
    {"fork_idle", fork_idle},
    {"fork_before_start", fork_before_start},
    {"fork_busy", fork_busy},
    {"fork_from_many_threads", fork_from_many_threads},
    {"own_handler", [] { return own_fault(true); }},
    {"own_fault", [] { return own_fault(false); }},
    {"cached", cached},
    {"no_compiler", no_compiler},
    {"not_initialised", not_initialised},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Mode& mode : kModes)
    if (argc > 1 && std::strcmp(argv[1], mode.name) == 0) return mode.run();
  return 98;
}
