// The ELF loader, the image reader and the object cache against damaged input.
#include <elf.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/plugin.h"
#include "softdev/jit/code_space.h"
#include "softdev/jit/elf_object.h"
#include "softdev/jit/externs.h"
#include "softdev/jit/lower_image.h"
#include "softdev/run/module.h"
#include "support.h"

namespace td::softdev::test {

namespace {

std::string object_bytes() {
  std::ifstream file(TEST_OBJECT, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t try_load(const std::string& bytes, bool* loaded) {
  std::string error;
  auto object = ElfObject::load(bytes, &error);
  *loaded = object != nullptr;
  return error.size();
}

TEST(ElfLoader, LoadsTheObject) {
  std::string error;
  auto object = ElfObject::load(object_bytes(), &error);
  ASSERT_NE(object, nullptr) << error;
  void* code = object->find("mirror_warp", true);
  ASSERT_NE(code, nullptr);
  EXPECT_TRUE(code_space_holds(reinterpret_cast<std::uintptr_t>(code)));
  EXPECT_EQ(object->find("no_such_symbol", false), nullptr);
  object.reset();
  EXPECT_FALSE(code_space_holds(reinterpret_cast<std::uintptr_t>(&try_load)));
}

TEST(ElfLoader, EveryTruncationIsAnError) {
  std::string whole = object_bytes();
  for (std::size_t size = 0; size < whole.size(); size += size < 200 ? 1 : 37) {
    bool loaded = true;
    EXPECT_GT(try_load(whole.substr(0, size), &loaded), 0u);
    EXPECT_FALSE(loaded) << size;
  }
}

TEST(ElfLoader, DamageNeverCrashes) {
  std::string whole = object_bytes();
  std::mt19937 random(7);
  int refused = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    std::string bytes = whole;
    int edits = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < edits; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    bool loaded = false;
    try_load(bytes, &loaded);
    refused += !loaded;
  }
  EXPECT_GT(refused, 0);
}

// Damage aimed at the tables, where random bytes rarely fall: each 8-byte field of headers, section
// table, symbols and relocations takes extreme values in turn.
TEST(ElfLoader, ExtremeFieldsNeverCrash) {
  std::string whole = object_bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  std::vector<std::pair<std::size_t, std::size_t>> areas = {{0, sizeof header}};
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    std::size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, whole.data() + at, sizeof section);
    areas.emplace_back(at, sizeof section);
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_RELA)
      areas.emplace_back(section.sh_offset, std::min<std::size_t>(section.sh_size, 1500));
  }
  const std::uint64_t values[] = {0,
                                  1,
                                  0x7fffffff,
                                  0xffffffff,
                                  0x7fffffffffffffff,
                                  0xffffffffffffffff,
                                  0xfffffffffffff000,
                                  whole.size(),
                                  whole.size() - 1,
                                  1 << 28};
  for (auto [begin, size] : areas)
    for (std::size_t at = begin; at + 8 <= begin + size && at + 8 <= whole.size(); at += 4)
      for (std::uint64_t value : values) {
        std::string bytes = whole;
        std::memcpy(bytes.data() + at, &value, at % 8 ? 4 : 8);
        bool loaded = false;
        try_load(bytes, &loaded);
      }
}

TEST(ElfLoader, UnloadGivesTheMemoryBack) {
  std::string bytes = object_bytes(), error;
  void* first = nullptr;
  for (int i = 0; i < 200; ++i) {
    auto object = ElfObject::load(bytes, &error);
    ASSERT_NE(object, nullptr) << error;
    if (!first) first = object->find("empty_block", true);
    ASSERT_EQ(object->find("empty_block", true), first);
  }
}

TEST(Externs, OnlyWhatKernelsMayCall) {
  std::string problem;
  EXPECT_NE(find_extern("td_rt_barrier", &problem), nullptr);
  EXPECT_NE(find_extern("memcpy", &problem), nullptr);
  EXPECT_NE(find_extern("cosf", &problem), nullptr);
  EXPECT_EQ(problem, "");
  // libm depends on libc, whose functions must not be found through it.
  EXPECT_EQ(find_extern("system", &problem), nullptr);
  EXPECT_NE(problem.find("system"), std::string::npos);
  if (find_extern("Sleef_sinf8_u10", &problem)) {
    EXPECT_EQ(find_extern("Sleef_none", &problem), nullptr);
    EXPECT_NE(problem.find("libsleef.so.3 does not have"), std::string::npos) << problem;
  } else {
    EXPECT_NE(problem.find("install the package libsleef3"), std::string::npos) << problem;
  }
}

TEST(Images, BitcodeSizesAreFound) {
  // Raw bitcode: magic, an identification block of 2 words, a module block of 3, a string table
  // of 1.
  std::vector<std::uint32_t> words = {0xdec04342};
  auto block = [&](std::uint32_t id, std::uint32_t length) {
    // ENTER_SUBBLOCK (2 bits), block id (vbr8), new abbreviation width 5 (vbr4), alignment.
    words.push_back(1u | id << 2 | 5u << 10);
    words.push_back(length);
    words.insert(words.end(), length, 0xaaaaaaaa);
  };
  block(13, 2);
  block(8, 3);
  block(23, 1);
  std::size_t bytes = words.size() * 4;
  words.insert(words.end(), 10, 0xffffffff);  // what follows in memory does not belong to it
  EXPECT_EQ(image_bytes(words.data()).size(), bytes);
  words[1] = 0xffffffff;
  EXPECT_EQ(image_bytes(words.data()).size(), 0u);
  std::string wrapped = image_of("kernels");
  EXPECT_EQ(image_bytes(wrapped.data()).size(), 11u);
  EXPECT_EQ(image_bytes("\x7f"
                        "ELF and more")
                .size(),
            0u);
}

TEST(Replies, SurviveTheTripThroughBytes) {
  LowerReply reply;
  reply.object = "object";
  reply.data = std::string("da\0ta", 5);
  reply.data_align = 512;
  LoweredKernel kernel;
  kernel.name = "k";
  kernel.warp_symbol = "w";
  kernel.block_symbol = "b";
  kernel.params = {{0, 8, 8}, {8, 4, 4}};
  kernel.param_bytes = 12;
  kernel.static_shared = 1;
  kernel.local_bytes = 2;
  kernel.stack_bytes = 3;
  kernel.width = 16;
  kernel.has_barrier = true;
  kernel.max_threads = 77;
  reply.kernels = {kernel, kernel};
  reply.refused = {{"odd", "why"}};
  reply.globals = {{"g", 8, 16, true}};
  reply.data_pointers = {{0, 8}, {8, 16}};
  reply.ok = true;
  std::string bytes = write_reply(reply);
  LowerReply back;
  ASSERT_TRUE(read_reply(bytes, &back));
  EXPECT_EQ(write_reply(back), bytes);
  EXPECT_EQ(back.kernels[1].params[1].offset, 8u);
  EXPECT_EQ(back.kernels[1].max_threads, 77u);
  EXPECT_TRUE(back.kernels[1].has_barrier);
  EXPECT_EQ(back.data, reply.data);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_reply(bytes.substr(0, size), &back)) << size;
  EXPECT_FALSE(read_reply(bytes + "x", &back));
}

class Modules : public Soft {
 protected:
  CUresult load(const std::string& what, std::string* log) {
    char error[200] = "unset";
    CUjit_option options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {error, reinterpret_cast<void*>(sizeof error)};
    CUmodule module = nullptr;
    std::string image = image_of(what);
    CUresult result = td_soft_cuModuleLoadDataEx(&module, image.data(), 2, options, values);
    *log = error;
    EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), log->size());
    if (result == CUDA_SUCCESS) {
      CUfunction function = nullptr;
      EXPECT_EQ(td_soft_cuModuleGetFunction(&function, module, "empty"), CUDA_SUCCESS);
      EXPECT_EQ(td_soft_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                CUDA_SUCCESS);
      EXPECT_EQ(td_soft_cuModuleUnload(module), CUDA_SUCCESS);
      EXPECT_EQ(td_soft_cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    }
    return result;
  }
};

TEST_F(Modules, FailuresFillTheLog) {
  std::string log;
  EXPECT_EQ(load("refuse", &log), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(log.find("kernel.cu:12"), std::string::npos) << log;
  EXPECT_EQ(load("damaged", &log), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(log.find("object code"), std::string::npos) << log;
  CUmodule module = nullptr;
  EXPECT_EQ(td_soft_cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_90", 0, nullptr, nullptr),
            CUDA_ERROR_INVALID_IMAGE);
  // The context has not failed.
  OK(cuCtxSynchronize());
}

// A kernel that is refused leaves the others of its image alone.
TEST_F(Modules, OneRefusedKernel) {
  std::string log;
  EXPECT_EQ(load("refuse_one", &log), CUDA_SUCCESS) << log;
  std::string image = image_of("refuse_one");
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(td_soft_cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  testing::internal::CaptureStderr();
  EXPECT_EQ(td_soft_cuModuleGetFunction(&function, module, "odd"), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("kernel odd cannot run: kernel.cu:7"),
            std::string::npos);
  EXPECT_EQ(td_soft_cuModuleGetFunction(&function, module, "none"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(td_soft_cuModuleUnload(module), CUDA_SUCCESS);
}

// A compiler that crashes is asked once more, for simple code; the process lives on either way.
TEST_F(Modules, ACrashOfTheCompilerIsSurvived) {
  std::string log;
  EXPECT_EQ(load("crash_always", &log), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(log.find("the compiler crashed"), std::string::npos) << log;
  EXPECT_EQ(load("crash", &log), CUDA_SUCCESS) << log;
  OK(cuCtxSynchronize());
}

TEST_F(Modules, DamagedCacheEntriesAreReplaced) {
  namespace fs = std::filesystem;
  std::string log;
  ASSERT_EQ(load("copy:1", &log), CUDA_SUCCESS) << log;
  ASSERT_TRUE(base::cc_plugin_loaded());
  std::mt19937 random(3);
  int entries = 0;
  for (int turn = 0; turn < 12; ++turn) {
    for (const auto& entry : fs::recursive_directory_iterator(std::getenv("TREADLE_CACHE_DIR"))) {
      if (!entry.is_regular_file()) continue;
      ++entries;
      auto size = fs::file_size(entry.path());
      if (turn % 3 == 0) {
        fs::resize_file(entry.path(), size * static_cast<unsigned>(turn) / 12);
      } else {
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        for (int i = 0; i < 20; ++i) {
          file.seekp(static_cast<std::streamoff>(random() % (size + 1)));
          file.put(static_cast<char>(random()));
        }
      }
    }
    ASSERT_EQ(load("copy:1", &log), CUDA_SUCCESS) << turn << log;
  }
  EXPECT_GT(entries, 0);
}

TEST_F(Modules, LoadingAndUnloadingManyTimes) {
  std::string log;
  for (int i = 0; i < 300; ++i) ASSERT_EQ(load("copy:2", &log), CUDA_SUCCESS) << log;
}

}  // namespace

}  // namespace td::softdev::test
