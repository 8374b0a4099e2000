#include "harness.h"

#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "compile/clang_plugin.h"

namespace simt_test {

using td::softdev::BlockFrame;
using td::softdev::LaunchFrame;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A warp on its own stack.
struct Warp {
  ucontext_t context;
  std::unique_ptr<unsigned char[]> stack;
  bool done = false;
  std::uint32_t first = 0;
};

struct BlockRun {
  std::vector<Warp> warps;
  ucontext_t scheduler;
  Warp* current = nullptr;
  td::softdev::WarpFunction function = nullptr;
  BlockFrame* frame = nullptr;
  std::uint32_t count = 0, all = 1, any = 0;                 // being collected
  std::uint32_t last_count = 0, last_all = 1, last_any = 0;  // of the barrier that was passed
};

Outcome outcome;
jmp_buf recovery;

BlockRun& block_of(BlockFrame* frame) { return *static_cast<BlockRun*>(frame->scheduler); }

void warp_entry(unsigned low, unsigned high) {
  auto* run = reinterpret_cast<BlockRun*>((static_cast<std::uintptr_t>(high) << 32) | low);
  Warp* self = run->current;
  run->function(run->frame, self->first);
  self->done = true;
  swapcontext(&self->context, &run->scheduler);
}

void run_warps(BlockRun& run, std::uint32_t threads, std::uint32_t stack_bytes) {
  run.warps.resize((threads + 31) / 32);
  for (std::size_t i = 0; i < run.warps.size(); ++i) {
    Warp& warp = run.warps[i];
    warp.first = static_cast<std::uint32_t>(i * 32);
    std::size_t size = stack_bytes + 65536;
    warp.stack.reset(new unsigned char[size]);
    getcontext(&warp.context);
    warp.context.uc_stack.ss_sp = warp.stack.get();
    warp.context.uc_stack.ss_size = size;
    auto address = reinterpret_cast<std::uintptr_t>(&run);
    makecontext(&warp.context, reinterpret_cast<void (*)()>(warp_entry), 2,
                static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
  }
  bool left = true;
  while (left) {
    left = false;
    run.count = run.any = 0;
    run.all = 1;
    for (Warp& warp : run.warps) {
      if (warp.done) continue;
      run.current = &warp;
      swapcontext(&run.scheduler, &warp.context);
      left |= !warp.done;
    }
    run.last_count = run.count;
    run.last_all = run.all;
    run.last_any = run.any;
  }
}

}  // namespace

namespace {

td::compile::ClangReply compile(const std::string& source) {
  static const std::string prelude = read_file(TREADLE_TEST_FOLDER "/prelude.h");
  td::compile::ClangRequest request;
  request.source = prelude + "\n#line 1 \"kernel.cu\"\n" + source;
  request.options = {"--fmad=false"};
  td::compile::ClangReply reply;
  td_cc_compile(request, reply);
  return reply;
}

}  // namespace

namespace {

td::softdev::LowerReply lower(const std::string& source, int width, bool stackful,
                              const std::string& kernel, Dim block) {
  static std::map<std::string, td::compile::ClangReply> compiled;
  td::compile::ClangReply& thread = compiled[source];
  if (!thread.ok) thread = compile(source);
  td::softdev::LowerRequest request;
  request.bitcode = thread.image;
  request.width = width;
  request.stackful = stackful;
  if (std::getenv("TREADLE_TEST_QUICK")) request.optimize = 0;
  request.kernel = kernel;
  if (!kernel.empty()) {
    const std::uint32_t size[] = {block.x, block.y, block.z};
    std::copy(size, size + 3, request.block);
  }
  if (const char* cpu = std::getenv("TREADLE_TEST_CPU")) request.cpu = cpu;
  td::softdev::LowerReply reply;
  if (thread.ok)
    td_cc_lower(request, reply);
  else
    reply.error = thread.log;
  return reply;
}

}  // namespace

td::softdev::LowerReply lower(const std::string& source, int width, bool stackful) {
  return lower(source, width, stackful, "", {});
}

struct Program::Loaded {
  class Resolver : public llvm::SectionMemoryManager {
   public:
    std::uint64_t getSymbolAddress(const std::string& name) override {
      static void* sleef = dlopen("libsleef.so.3", RTLD_NOW | RTLD_GLOBAL);
      if (name == "td_rt_barrier") return reinterpret_cast<std::uint64_t>(&td_rt_barrier);
      if (name == "td_rt_barrier_reduce")
        return reinterpret_cast<std::uint64_t>(&td_rt_barrier_reduce);
      if (name == "td_rt_trap") return reinterpret_cast<std::uint64_t>(&td_rt_trap);
      if (name == "td_rt_assert_fail") return reinterpret_cast<std::uint64_t>(&td_rt_assert_fail);
      // Fair mode is tested where its runtime is, on the whole device.
      for (const char* fair : {"td_rt_yield", "td_rt_fair_barrier", "td_rt_warp_op",
                               "td_rt_grid_barrier", "td_rt_stack_overflow"})
        if (name == fair) return reinterpret_cast<std::uint64_t>(&std::abort);
      if (name == "td_rt_printf") return reinterpret_cast<std::uint64_t>(&td_rt_printf);
      void* found = name.rfind("Sleef_", 0) == 0 ? dlsym(sleef, name.c_str())
                                                 : dlsym(RTLD_DEFAULT, name.c_str());
      return reinterpret_cast<std::uint64_t>(found);
    }
  };
  Resolver memory;
  llvm::RuntimeDyld linker{memory, memory};
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::vector<unsigned char> data;
  unsigned char* globals = nullptr;
};

Program::Program(const std::string& source, int width, bool stackful)
    : Program(lower(source, width, stackful)) {
  if (!stackful) {
    source_ = source;
    width_ = width;
  }
}

Program::Program(td::softdev::LowerReply reply) : reply_(std::move(reply)), loaded_(new Loaded) {
  if (!reply_.ok) throw std::runtime_error(reply_.error);
  loaded_->buffer = llvm::MemoryBuffer::getMemBufferCopy(reply_.object, "object");
  auto object = llvm::object::ObjectFile::createObjectFile(loaded_->buffer->getMemBufferRef());
  if (!object) throw std::runtime_error("not an object file");
  loaded_->object = std::move(*object);
  loaded_->linker.loadObject(*loaded_->object);
  if (loaded_->linker.hasError()) throw std::runtime_error(loaded_->linker.getErrorString().str());
  loaded_->linker.resolveRelocations();
  if (loaded_->linker.hasError()) throw std::runtime_error(loaded_->linker.getErrorString().str());
  loaded_->memory.finalizeMemory();
  loaded_->data.resize(reply_.data.size() + 512);
  auto address = (reinterpret_cast<std::uintptr_t>(loaded_->data.data()) + 255) / 256 * 256;
  loaded_->globals = reinterpret_cast<unsigned char*>(address);
  std::memcpy(loaded_->globals, reply_.data.data(), reply_.data.size());
  for (auto [at, to] : reply_.data_pointers) {
    unsigned char* pointer = loaded_->globals + to;
    std::memcpy(loaded_->globals + at, &pointer, 8);
  }
  for (const auto& [at, symbol] : reply_.code_pointers) {
    void* pointer = Program::address(symbol);
    std::memcpy(loaded_->globals + at, &pointer, 8);
  }
}

Program::~Program() = default;

const td::softdev::LoweredKernel& Program::kernel(const std::string& name) const {
  for (const auto& kernel : reply_.kernels)
    if (name.empty() || kernel.name == name) return kernel;
  throw std::runtime_error("no kernel " + name);
}

void* Program::address(const std::string& symbol) const {
  return loaded_->linker.getSymbolLocalAddress(symbol);
}

void* Program::global(const std::string& name) {
  for (const auto& global : reply_.globals)
    if (global.name == name) return loaded_->globals + global.offset;
  throw std::runtime_error("no variable " + name);
}

// Code for this block size only. Making it takes its time: the first two sizes of a program have
// it.
void* Program::special_block(const std::string& kernel, Dim block) {
  std::string key = kernel + " " + std::to_string(block.x) + " " + std::to_string(block.y) + " " +
                    std::to_string(block.z);
  auto found = special_.find(key);
  if (found == special_.end() && (source_.empty() || special_.size() == 2)) return nullptr;
  if (found == special_.end()) {
    auto made = std::unique_ptr<Program>(new Program(lower(source_, width_, false, kernel, block)));
    found = special_.emplace(key, std::move(made)).first;
  }
  return found->second->address(found->second->kernel(kernel).block_symbol);
}

Outcome Program::run(const td::softdev::LoweredKernel& kernel, Dim grid, Dim block,
                     unsigned shared_bytes, const unsigned char* params) {
  outcome = {};
  LaunchFrame launch{};
  launch.params = params;
  launch.globals = loaded_->globals;
  unsigned grid_size[3] = {grid.x, grid.y, grid.z}, block_size[3] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = grid_size[i];
    launch.block[i] = block_size[i];
  }
  launch.threads = block.x * block.y * block.z;
  launch.static_shared = kernel.static_shared;
  launch.dynamic_shared = shared_bytes;
  std::vector<unsigned char> arena(kernel.static_shared + shared_bytes + 4096, 0xAA);
  auto base = (reinterpret_cast<std::uintptr_t>(arena.data()) + 1024 + 255) / 256 * 256;
  BlockFrame frame{};
  frame.launch = &launch;
  frame.shared = reinterpret_cast<unsigned char*>(base);
  auto* warp = reinterpret_cast<td::softdev::WarpFunction>(address(kernel.warp_symbol));
  auto* whole = kernel.block_symbol.empty()
                    ? nullptr
                    : reinterpret_cast<td::softdev::BlockFunction>(address(kernel.block_symbol));
  void* special = whole ? special_block(kernel.name, block) : nullptr;
  static unsigned turn = 0;
  if (setjmp(recovery)) return outcome;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        unsigned index[3] = {x, y, z};
        for (int i = 0; i < 3; ++i) frame.block_idx[i] = index[i];
        // All entries must agree.
        unsigned entry = whole ? turn++ % 3 : 2;
        if (entry == 0 && special) {
          reinterpret_cast<td::softdev::BlockFunction>(special)(&frame);
          continue;
        }
        if (entry < 2) {
          whole(&frame);
          continue;
        }
        BlockRun run;
        run.function = warp;
        run.frame = &frame;
        frame.scheduler = &run;
        run_warps(run, launch.threads, kernel.stack_bytes);
      }
  return outcome;
}

Guarded::Guarded(std::size_t bytes) {
  std::size_t page = 4096;
  std::size_t usable = (bytes + page - 1) / page * page;
  mapped_ = usable + page;
  map_ = static_cast<unsigned char*>(
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(map_ + usable, page, PROT_NONE);
  begin_ = map_ + usable - bytes;
}

Guarded::~Guarded() { munmap(map_, mapped_); }

}  // namespace simt_test

using simt_test::block_of;
using simt_test::outcome;
using simt_test::recovery;

extern "C" {
void td_rt_barrier(td::softdev::BlockFrame* block, std::uint32_t) {
  auto& run = block_of(block);
  swapcontext(&run.current->context, &run.scheduler);
}

std::uint32_t td_rt_barrier_reduce(td::softdev::BlockFrame* block, std::uint32_t mask,
                                   std::uint32_t predicate, std::uint32_t kind) {
  auto& run = block_of(block);
  run.count += static_cast<std::uint32_t>(__builtin_popcount(predicate));
  run.all &= predicate == mask;
  run.any |= predicate != 0;
  swapcontext(&run.current->context, &run.scheduler);
  return kind == 0 ? run.last_count : kind == 1 ? run.last_all : run.last_any;
}

void td_rt_trap(td::softdev::BlockFrame*, std::uint32_t kind, std::uint32_t, std::uint32_t lanes,
                const char* place) {
  outcome.trap = kind;
  outcome.trap_place = place ? place : "";
  outcome.trap_lanes = lanes;
  longjmp(recovery, 1);
}

void td_rt_assert_fail(td::softdev::BlockFrame*, std::uint32_t, std::uint32_t lanes,
                       const char* message, const char* file, std::uint32_t line, const char*) {
  outcome.trap = static_cast<std::uint32_t>(td::softdev::TrapKind::assertion);
  outcome.trap_lanes = lanes;
  outcome.assertion = std::string(file) + ":" + std::to_string(line) + ": " + message;
  longjmp(recovery, 1);
}

std::int32_t td_rt_printf(td::softdev::BlockFrame*, const char* format, const void* arguments) {
  int first = 0;
  std::memcpy(&first, arguments, sizeof first);
  outcome.printed.push_back(std::string(format) + "|" + std::to_string(first));
  return 1;
}
}
