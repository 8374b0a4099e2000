#include "softdev/jit/lower_image.h"

#include <cpuid.h>

#include "base/bytes.h"
#include "base/compile_counts.h"
#include "base/disk_cache.h"
#include "base/plugin.h"
#include "base/ready_pack.h"
#include "base/text.h"
#include "base/version.h"
#include "softdev/run/compile_guard.h"

namespace td::softdev {

namespace {

using namespace td::cuda;
using LowerFunction = void (*)(const LowerRequest&, LowerReply&);

// Vector state that the system saves (XCR0): a processor may have AVX-512 that the system does not
// offer.
std::uint64_t enabled_state() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

std::string processor_key() {
  base::ByteWriter out;
  unsigned a, b, c, d;
  if (__get_cpuid(0, &a, &b, &c, &d)) {
    out.number(b);
    out.number(c);
    out.number(d);
  }
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    out.number(a);
    out.number(c);
    out.number(d);
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    out.number(b);
    out.number(c);
    out.number(d);
  }
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) out.number(a);
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
    out.number(c);
    out.number(d);
  }
  out.number(enabled_state());
  return out.take();
}

std::string write_reply(const LowerReply& reply) {
  base::ByteWriter out;
  out.text(reply.object);
  out.text(reply.data);
  out.number(reply.data_align);
  out.number(reply.kernels.size());
  for (const LoweredKernel& kernel : reply.kernels) {
    out.text(kernel.name);
    out.text(kernel.warp_symbol);
    out.text(kernel.block_symbol);
    out.text(kernel.thread_symbol);
    out.number(kernel.params.size());
    for (const ParamLayout& param : kernel.params) {
      out.number(param.offset);
      out.number(param.size);
      out.number(param.align);
    }
    for (std::uint32_t value :
         {kernel.param_bytes, kernel.static_shared, kernel.local_bytes, kernel.stack_bytes,
          kernel.width, std::uint32_t{kernel.has_barrier}, kernel.max_threads,
          static_cast<std::uint32_t>(kernel.fairness_in_rows),
          static_cast<std::uint32_t>(kernel.fairness), kernel.thread_stack_bytes,
          std::uint32_t{kernel.recursive}, kernel.quick_size})
      out.number(value);
  }
  out.number(reply.refused.size());
  for (const RefusedKernel& kernel : reply.refused) {
    out.text(kernel.name);
    out.text(kernel.why);
  }
  out.number(reply.globals.size());
  for (const LoweredGlobal& global : reply.globals) {
    out.text(global.name);
    out.number(global.offset);
    out.number(global.size);
    out.number(global.constant);
  }
  out.number(reply.data_pointers.size());
  for (const auto& [at, to] : reply.data_pointers) {
    out.number(at);
    out.number(to);
  }
  out.number(reply.code_pointers.size());
  for (const auto& [at, symbol] : reply.code_pointers) {
    out.number(at);
    out.text(symbol);
  }
  return out.take();
}

bool read_reply(std::string_view bytes, LowerReply* reply) {
  base::ByteReader in(bytes);
  auto small = [&] { return static_cast<std::uint32_t>(in.number()); };
  *reply = {};
  reply->object = in.text();
  reply->data = in.text();
  reply->data_align = in.number();
  // A wrong count ends at the end of the bytes: each turn reads something.
  for (std::uint64_t kernels = in.number(); kernels > 0 && in.ok(); --kernels) {
    LoweredKernel kernel;
    kernel.name = in.text();
    kernel.warp_symbol = in.text();
    kernel.block_symbol = in.text();
    kernel.thread_symbol = in.text();
    for (std::uint64_t params = in.number(); params > 0 && in.ok(); --params) {
      ParamLayout param;
      param.offset = small();
      param.size = small();
      param.align = small();
      kernel.params.push_back(param);
    }
    kernel.param_bytes = small();
    kernel.static_shared = small();
    kernel.local_bytes = small();
    kernel.stack_bytes = small();
    kernel.width = small();
    kernel.has_barrier = small() != 0;
    kernel.max_threads = small();
    kernel.fairness_in_rows = static_cast<Fairness>(small());
    kernel.fairness = static_cast<Fairness>(small());
    kernel.thread_stack_bytes = small();
    kernel.recursive = small() != 0;
    kernel.quick_size = small();
    reply->kernels.push_back(std::move(kernel));
  }
  for (std::uint64_t refused = in.number(); refused > 0 && in.ok(); --refused) {
    RefusedKernel kernel;
    kernel.name = in.text();
    kernel.why = in.text();
    reply->refused.push_back(std::move(kernel));
  }
  for (std::uint64_t globals = in.number(); globals > 0 && in.ok(); --globals) {
    LoweredGlobal global;
    global.name = in.text();
    global.offset = in.number();
    global.size = in.number();
    global.constant = in.number() != 0;
    reply->globals.push_back(std::move(global));
  }
  for (std::uint64_t pointers = in.number(); pointers > 0 && in.ok(); --pointers) {
    std::uint64_t at = in.number(), to = in.number();
    reply->data_pointers.emplace_back(at, to);
  }
  for (std::uint64_t pointers = in.number(); pointers > 0 && in.ok(); --pointers) {
    std::uint64_t at = in.number();
    reply->code_pointers.emplace_back(at, in.text());
  }
  reply->ok = in.at_end();
  return reply->ok;
}

namespace {

// What objects of the package are made for: every x86-64 processor with AVX2 and FMA, by LLVM's and
// the psABI's name. A kernel that runs a lot gets code for this very processor in the background
// (run/special.h), which makes a second, wider level not worth its room.
constexpr const char* kReadyProcessor = "x86-64-v3";

// `processor`: what the code is made for. `image`: hash of the bitcode.
base::Hash128 key_of(const LowerRequest& request, const base::Hash128& image,
                     std::string_view processor, int optimize) {
  base::Hasher hasher;
  hasher.add(image.high).add(image.low).add(processor);
  hasher.add(static_cast<std::uint64_t>(optimize)).add(request.kernel);
  for (std::uint32_t size : request.block) hasher.add(static_cast<std::uint64_t>(size));
  hasher.add(static_cast<std::uint64_t>(request.width)).add(base::kVersion);
  hasher.add(static_cast<std::uint64_t>(base::kCacheFormat)).add(base::cc_plugin_stamp());
  return hasher.finish();
}

base::Hash128 hash_of(std::string_view image) { return base::Hasher().add(image).finish(); }

bool find_ready(const LowerRequest& request, const base::Hash128& image, LowerReply* reply) {
  const base::ReadyPack& pack = base::ReadyPack::object();
  if (pack.size() == 0 || !__builtin_cpu_supports("x86-64-v3")) return false;
  auto stored = pack.load(key_of(request, image, kReadyProcessor, 2));
  if (!stored || !read_reply(*stored, reply)) return false;
  base::compile_counts().ready_objects.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// False when the compiler has crashed, and has crashed again when it was told to be careful.
bool lower_safely(LowerFunction lower, const LowerRequest& request, LowerReply* reply) {
  struct Call {
    LowerFunction lower;
    LowerRequest request;
    LowerReply reply;
  };
  for (bool careful : {false, true}) {
    auto* call = new Call{lower, request, {}};
    call->request.careful = careful;
    // A crash leaves the call as it is: half of a reply is nothing that could be destroyed.
    if (!survives(
            [](void* argument) {
              auto* call = static_cast<Call*>(argument);
              call->lower(call->request, call->reply);
            },
            call))
      continue;
    *reply = std::move(call->reply);
    delete call;
    return true;
  }
  return false;
}

// Without any cache.
CUresult run_compiler(const LowerRequest& request, LowerReply* reply, std::string* log) {
  std::string why;
  auto lower = reinterpret_cast<LowerFunction>(base::cc_plugin_symbol("td_cc_lower", &why));
  if (!lower) {
    *log = base::cat("the software device has no compiler: ", why,
                     "; build Treadle with LLVM 19, or set TREADLE_CC to its libtreadle_cc.so");
    return CUDA_ERROR_FILE_NOT_FOUND;
  }
  base::compile_counts().objects.fetch_add(1, std::memory_order_relaxed);
  if (!lower_safely(lower, request, reply)) {
    *log =
        "the compiler crashed on this kernel, also with its simplest code generator; a smaller "
        "kernel may help";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (!reply->ok) {
    *log = reply->error;
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult lower_image(const LowerRequest& request, LowerReply* reply, std::string* log) {
  const base::Hash128 image = hash_of(request.bitcode);
  if (find_ready(request, image, reply)) return CUDA_SUCCESS;
  static const base::DiskCache& cache = *new base::DiskCache("object");
  static const std::string& processor = *new std::string(processor_key());
  // The best that there is.
  for (int optimize = 2; optimize >= request.optimize; optimize -= 2)
    if (auto stored = cache.load(key_of(request, image, processor, optimize));
        stored && read_reply(*stored, reply)) {
      base::compile_counts().cached_objects.fetch_add(1, std::memory_order_relaxed);
      return CUDA_SUCCESS;
    }
  if (CUresult result = run_compiler(request, reply, log); result != CUDA_SUCCESS) return result;
  bool quick = false;
  for (const LoweredKernel& kernel : reply->kernels) quick |= kernel.quick_size != 0;
  cache.store(key_of(request, image, processor, quick ? 0 : 2), write_reply(*reply));
  return CUDA_SUCCESS;
}

CUresult make_ready_object(LowerRequest request, std::string* log, const base::ReadyPack& before,
                           base::ReadyPackWriter& pack) {
  request.optimize = 2;
  request.cpu = kReadyProcessor;
  const base::Hash128 key = key_of(request, hash_of(request.bitcode), kReadyProcessor, 2);
  LowerReply reply;
  auto stored = before.load(key);
  if (!stored || !read_reply(*stored, &reply))
    if (CUresult result = run_compiler(request, &reply, log); result != CUDA_SUCCESS) return result;
  pack.add(key, write_reply(reply));
  return CUDA_SUCCESS;
}

}  // namespace td::softdev
