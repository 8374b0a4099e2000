// A compiler plug-in for tests. The "image" is LLVM's bitcode wrapper and magic around the name of
// what to answer:
//   kernels        the object of kernels.cpp
//   copy:N         the same, as another image (for caches)
//   damaged        an object that does not load
//   refuse         an error
//   refuse_one     "kernels", and a kernel that is refused
//   crash          a fault, and "kernels" when asked to be careful
//   crash_always   a fault
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "softdev/simt/lower.h"

namespace {

using namespace td::softdev;

struct Row {
  const char* name;
  bool barrier;
  const char* params;  // sizes, each aligned to itself
  std::uint32_t static_shared = 0, max_threads = 1024, stack = 4096;
};

// clang-format off
const Row kRows[] = {
  {"empty",        false, ""},
  {"triple",       false, "84"},
  {"count",        false, "8"},
  {"chain",        false, "848"},
  {"busy",         false, "8"},
  {"wait_flag",    false, "8"},
  {"poke",         false, "884"},
  {"divide",       false, "844"},
  {"trap",         false, ""},
  {"illegal",      false, ""},
  {"spin",         false, ""},
  {"jump",         false, "8"},
  {"copy",         false, "888"},
  {"assert",       false, ""},
  {"deep",         false, ""},
  {"variables",    false, ""},
  {"functions",    false, "84"},
  {"print",        false, "8"},
  {"facts",        false, "8", 1000},
  {"bounded",      false, "", 0, 64},
  {"local",        false, "8", 0, 1024, 1 << 20},
  {"mirror",       true,  "8", 4096},
  {"local_barrier",true,  "8", 0, 1024, 1 << 20},
  {"rounds",       true,  "844", 4096},
  {"votes",        true,  "848", 4096},
  {"poke_barrier", true,  "884"},
};
// clang-format on

std::string symbol_of(const Row& row, bool barrier) {
  std::string name = row.name;
  if (std::size_t suffix = name.find("_barrier"); suffix != std::string::npos) name.resize(suffix);
  if (name == "bounded") name = "empty";
  return name + (barrier ? "_warp" : "_block");
}

LoweredKernel kernel_of(const Row& row) {
  LoweredKernel kernel;
  kernel.name = row.name;
  kernel.has_barrier = row.barrier;
  // Tests' objects have block functions only where there is no barrier; the warp function is then
  // never called.
  kernel.warp_symbol = symbol_of(row, row.barrier);
  if (!row.barrier) kernel.block_symbol = kernel.warp_symbol;
  for (const char* p = row.params; *p; ++p) {
    auto size = static_cast<std::uint32_t>(*p - '0');
    kernel.param_bytes = (kernel.param_bytes + size - 1) / size * size;
    kernel.params.push_back({kernel.param_bytes, size, size});
    kernel.param_bytes += size;
  }
  kernel.static_shared = row.static_shared;
  kernel.max_threads = row.max_threads;
  kernel.stack_bytes = row.stack;
  return kernel;
}

LoweredKernel large_params() {
  LoweredKernel kernel;
  kernel.name = "large_params";
  kernel.warp_symbol = kernel.block_symbol = "large_params_block";
  kernel.params = {{0, 600, 1}, {600, 8, 8}};
  kernel.param_bytes = 608;
  kernel.stack_bytes = 4096;
  return kernel;
}

}  // namespace

// The fault that a crashing compiler makes; meant, so not to be reported by a sanitizer.
__attribute__((no_sanitize("undefined"), noinline)) static void store_to_null() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

extern "C" __attribute__((visibility("default"))) void td_cc_lower(const LowerRequest& request,
                                                                   LowerReply& reply) {
  std::string what(request.bitcode.substr(4));
  if (what == "refuse") {
    reply.error = "kernel.cu:12: recursion is not supported on the software device yet";
    return;
  }
  if (what == "crash_always" || (what == "crash" && !request.careful)) {
    reply.object = "half of a";
    store_to_null();
  }
  std::ifstream file(TEST_OBJECT, std::ios::binary);
  reply.object.assign(std::istreambuf_iterator<char>(file), {});
  if (what == "damaged") reply.object.resize(reply.object.size() / 2);
  for (const Row& row : kRows) reply.kernels.push_back(kernel_of(row));
  reply.kernels.push_back(large_params());
  if (what == "refuse_one") reply.refused = {{"odd", "kernel.cu:7: oddness is not supported"}};
  reply.data.assign(32, 0);
  reply.data[0] = 3;
  reply.data_pointers = {{8, 0}};
  reply.globals = {{"counter", 0, 4, false}, {"pointer", 8, 8, false}, {"table", 16, 16, true}};
  reply.ok = true;
}
