#include "softdev/run/module.h"

#include <algorithm>
#include <cstring>

#include "base/author_name.h"
#include "base/log.h"
#include "base/text.h"
#include "softdev/jit/lower_image.h"
#include "softdev/run/fault.h"
#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::uint32_t kWrapperMagic = 0x0b17c0de;
constexpr std::uint32_t kBitcodeMagic = 0xdec04342;
constexpr std::uint64_t kMaxImageBytes = std::uint64_t{1} << 30;

std::uint32_t word_at(const unsigned char* bytes, std::uint64_t at) {
  std::uint32_t word;
  std::memcpy(&word, bytes + at, sizeof word);
  return word;
}

// A number in LLVM's variable bit rate encoding with chunks of `width` bits, from a 64-bit window.
std::uint32_t read_vbr(std::uint64_t window, unsigned* bit, unsigned width) {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 32; shift += width - 1) {
    auto chunk = static_cast<std::uint32_t>(window >> *bit) & ((1u << width) - 1);
    *bit += width;
    value |= (chunk & ((1u << (width - 1)) - 1)) << shift;
    if (!(chunk >> (width - 1))) break;
  }
  return value;
}

// Size of raw bitcode: its top-level blocks say their lengths, and the string table is the last of
// them.
std::uint64_t raw_bitcode_size(const unsigned char* bytes) {
  constexpr std::uint32_t kIdentification = 13, kModule = 8, kStringTable = 23, kSymbolTable = 25;
  std::uint64_t at = 4;
  while (at < kMaxImageBytes) {
    std::uint32_t head = word_at(bytes, at);
    if ((head & 3) != 1) return 0;  // ENTER_SUBBLOCK at the outermost abbreviation width of 2
    unsigned bit = 2;
    std::uint32_t block = read_vbr(head, &bit, 8);
    if (block != kIdentification && block != kModule && block != kStringTable &&
        block != kSymbolTable)
      return 0;
    at += 8 + std::uint64_t{word_at(bytes, at + 4)} * 4;
    if (block == kStringTable) return at;
  }
  return 0;
}

void release_data(CUmodule module) {
  if (module->data) Arena::get().free(module->data);
  module->data = 0;
}

// The module's variables in device memory, with their pointers to each other.
CUresult place_data(Context& context, const LowerReply& reply, CUmodule module, std::string* log) {
  if (reply.data.empty()) return CUDA_SUCCESS;
  std::uint64_t align = reply.data_align ? reply.data_align : 1;
  bool ok = (align & (align - 1)) == 0 && align <= 4096;
  for (const auto& [at, to] : reply.data_pointers)
    ok = ok && reply.data.size() >= 8 && at <= reply.data.size() - 8;
  for (const auto& [at, symbol] : reply.code_pointers)
    ok = ok && reply.data.size() >= 8 && at <= reply.data.size() - 8;
  for (const LoweredGlobal& global : reply.globals)
    ok = ok && global.offset <= reply.data.size() &&
         global.size <= reply.data.size() - global.offset;
  if (!ok) {
    *log = "the image's data segment is damaged";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  Allocation like{.bytes = reply.data.size(), .device = context.device};
  CUresult result = Arena::get().allocate(like, align, &module->data);
  if (result != CUDA_SUCCESS) {
    *log = base::cat("no memory for ", reply.data.size(), " bytes of device variables");
    return result;
  }
  auto* base = reinterpret_cast<unsigned char*>(module->data);
  std::memcpy(base, reply.data.data(), reply.data.size());
  for (const auto& [at, to] : reply.data_pointers) {
    std::uint64_t pointer = module->data + to;
    std::memcpy(base + at, &pointer, sizeof pointer);
  }
  return CUDA_SUCCESS;
}

bool valid(const LoweredKernel& kernel) {
  for (const ParamLayout& param : kernel.params)
    if (param.offset > kernel.param_bytes || param.size > kernel.param_bytes - param.offset)
      return false;
  return kernel.param_bytes <= 32768 && kernel.static_shared <= kMaxSharedOptIn &&
         kernel.stack_bytes <= (1u << 30) && kernel.thread_stack_bytes <= (1u << 30) &&
         kernel.fairness_in_rows <= Fairness::threads && kernel.fairness <= Fairness::threads;
}

// The kernel's functions in the loaded code; false when one is missing.
bool find_code(const LoweredKernel& kernel, const ElfObject& code, CUfunction function) {
  auto find = [&](const std::string& symbol) {
    return symbol.empty() ? nullptr : code.find(symbol, true);
  };
  function->warp = reinterpret_cast<WarpFunction>(find(kernel.warp_symbol));
  function->block = reinterpret_cast<BlockFunction>(find(kernel.block_symbol));
  function->thread = reinterpret_cast<ThreadFunction>(find(kernel.thread_symbol));
  auto runs_as_threads = [](Fairness fairness) { return fairness == Fairness::threads; };
  bool needs_threads = runs_as_threads(kernel.fairness) || runs_as_threads(kernel.fairness_in_rows);
  bool needs_warps = !runs_as_threads(kernel.fairness) || !runs_as_threads(kernel.fairness_in_rows);
  return (!needs_warps || function->warp) && (!needs_threads || function->thread) &&
         (kernel.block_symbol.empty() || function->block);
}

CUresult place_code(const LowerReply& reply, CUmodule module, std::string* log) {
  module->code = ElfObject::load(reply.object, log);
  if (!module->code) return CUDA_ERROR_INVALID_IMAGE;
  for (const LoweredKernel& kernel : reply.kernels) {
    CUfunction function = handle_pool<CUfunc_st>().make();
    module->functions.push_back(function);
    if (!valid(kernel) || !find_code(kernel, *module->code, function)) {
      *log = base::cat("the code of kernel ", kernel.name, " is damaged");
      return CUDA_ERROR_INVALID_IMAGE;
    }
    function->module = module;
    function->info = kernel;
    function->carveout = -1;
    function->max_dynamic_shared =
        kMaxShared > kernel.static_shared ? kMaxShared - kernel.static_shared : 0;
  }
  for (const auto& [at, symbol] : reply.code_pointers) {
    void* address = module->code->find(symbol, true);
    if (!address) {
      *log = base::cat("the code of function ", symbol, " is damaged");
      return CUDA_ERROR_INVALID_IMAGE;
    }
    std::memcpy(reinterpret_cast<unsigned char*>(module->data) + at, &address, sizeof address);
  }
  return CUDA_SUCCESS;
}

}  // namespace

std::string_view image_bytes(const void* image) {
  auto* bytes = static_cast<const unsigned char*>(image);
  std::uint64_t offset = 0, size = 0;
  if (word_at(bytes, 0) == kWrapperMagic) {
    offset = word_at(bytes, 8);
    size = word_at(bytes, 12);
    if (offset < 20 || offset + size > kMaxImageBytes || size < 4 ||
        word_at(bytes, offset) != kBitcodeMagic)
      return {};
  } else if (word_at(bytes, 0) == kBitcodeMagic) {
    size = raw_bitcode_size(bytes);
  }
  return {reinterpret_cast<const char*>(bytes) + offset, size};
}

CUresult prepare_image(const void* image, LoweredImage* lowered, std::string* log) {
  std::string_view bytes = image_bytes(image);
  if (bytes.empty()) {
    *log =
        "the image is not LLVM bitcode, which is what the software device loads; compile for this "
        "device";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  install_fault_handlers();
  lowered->bytes = std::make_shared<const std::string>(bytes);
  LowerRequest request;
  request.bitcode = *lowered->bytes;
  request.optimize = 0;
  return lower_image(request, &lowered->reply, log);
}

CUresult load_module(Context& context, const LoweredImage& lowered, CUmodule* out,
                     std::string* log) {
  CUmodule module = handle_pool<CUmod_st>().make();
  module->context = &context;
  module->globals = lowered.reply.globals;
  module->refused = lowered.reply.refused;
  CUresult result = place_data(context, lowered.reply, module, log);
  if (result == CUDA_SUCCESS) result = place_code(lowered.reply, module, log);
  for (CUfunction function : module->functions)
    if (function->block || function->info.quick_size)
      function->special = std::make_shared<SpecialCodes>(lowered.bytes, function->info);
  if (result != CUDA_SUCCESS) {
    destroy_module(module);
    return result;
  }
  std::lock_guard lock(context.mutex);
  context.modules.push_back(module);
  *out = module;
  return CUDA_SUCCESS;
}

CUresult load_module(Context& context, const void* image, CUmodule* out, std::string* log) {
  LoweredImage lowered;
  CUresult result = prepare_image(image, &lowered, log);
  return result == CUDA_SUCCESS ? load_module(context, lowered, out, log) : result;
}

void destroy_module(CUmodule module) {
  module->alive = false;
  for (CUfunction function : module->functions) handle_pool<CUfunc_st>().recycle(function);
  release_data(module);
  handle_pool<CUmod_st>().recycle(module);
}

CUresult find_function(CUmodule module, std::string_view name, CUfunction* out) {
  *out = nullptr;
  for (CUfunction function : module->functions)
    if (function->info.name == name) *out = function;
  if (*out) return CUDA_SUCCESS;
  for (const RefusedKernel& kernel : module->refused) {
    if (kernel.name != name) continue;
    base::log_once(base::LogLevel::warn,
                   base::cat("kernel ", base::author_name(name), " cannot run: ", kernel.why));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_NOT_FOUND;
}

bool find_global(CUmodule module, std::string_view name, CUdeviceptr* address, std::size_t* bytes) {
  for (const LoweredGlobal& global : module->globals) {
    if (global.name != name) continue;
    if (address) *address = module->data + global.offset;
    if (bytes) *bytes = global.size;
    return true;
  }
  return false;
}

bool is_live(CUfunction function, const Context& context) {
  return may_be_read(function) && function->tag == HandleTag::function &&
         function->alive.load(std::memory_order_acquire) && function->module->context == &context;
}

bool is_live(CUmodule module, const Context& context) {
  return is_alive(module) && module->context == &context;
}

}  // namespace td::softdev
