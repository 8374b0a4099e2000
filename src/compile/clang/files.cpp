#include "compile/clang/files.h"

#include "compile/device_headers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

namespace td::compile {

using llvm::MemoryBuffer;
using llvm::StringRef;

namespace {

using MemoryFiles = llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem>;

void add_headers(llvm::vfs::InMemoryFileSystem& memory, const std::string& folder,
                 const DeviceHeader* headers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const StringRef text(headers[i].text.data(), headers[i].text.size());
    memory.addFile(folder + "/" + std::string(headers[i].name), 0,
                   MemoryBuffer::getMemBuffer(text, headers[i].name));
  }
}

// Headers that a program takes from the host's C and C++ library, not from us.
bool is_library_header(StringRef name) {
  if (!name.ends_with(".h")) return !name.contains('/') && !name.contains('.');
  for (StringRef own :
       {"assert.h", "float.h", "limits.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
        "stdlib.h", "string.h", "time.h", "inttypes.h", "complex.h", "ctype.h", "errno.h"})
    if (name == own) return true;
  return name.starts_with("td_") || name.starts_with("treadle_");
}

// Types that the host computes with as well.
bool is_for_both(StringRef name) {
  return name.starts_with("cuda_fp") || name.starts_with("cuda_bf") || name == "cuComplex.h" ||
         name == "mma.h";  // includes two of them
}

// Known headers of CUDA without an implementation here. The error is the program's own line;
// without it another CUDA installation's header might be found and mixed with ours.
void refuse_missing_headers(llvm::vfs::InMemoryFileSystem& memory) {
  for (StringRef name : {"cooperative_groups.h",
                         "cooperative_groups/reduce.h",
                         "cooperative_groups/scan.h",
                         "cooperative_groups/memcpy_async.h",
                         "cuda_bf16.h",
                         "cuda_fp8.h",
                         "cuda_fp6.h",
                         "cuda_fp4.h",
                         "curand_kernel.h",
                         "mma.h",
                         "cuda_pipeline.h",
                         "cuda_pipeline_primitives.h",
                         "cuda_awbarrier.h",
                         "cuComplex.h",
                         "cuda/barrier",
                         "cuda/pipeline",
                         "cuda/atomic",
                         "cuda/ptx",
                         "cublas_v2.h",
                         "cublasLt.h",
                         "cublas.h",
                         "cufft.h",
                         "cusparse.h",
                         "cusolverDn.h",
                         "curand.h",
                         "nvrtc.h",
                         "npp.h",
                         "nccl.h",
                         "cudnn.h",
                         "cuda_gl_interop.h",
                         "cub/cub.cuh",
                         "thrust/device_vector.h",
                         "thrust/host_vector.h",
                         "thrust/sort.h",
                         "thrust/reduce.h",
                         "thrust/scan.h"}) {
    const std::string path = std::string(kProgramFolder) + "/" + name.str();
    if (memory.exists(path)) continue;
    const std::string text =
        "#error \"<" + name.str() + "> is known, but not supported on the software device yet\"\n";
    memory.addFile(path, 0, MemoryBuffer::getMemBufferCopy(text, name));
  }
}

// The device headers that CUDA has besides the C library's, under their own names.
void forward_device_headers(llvm::vfs::InMemoryFileSystem& memory) {
  for (std::size_t i = 0; i < kDeviceHeaderCount; ++i) {
    const StringRef name(kDeviceHeaders[i].name);
    const std::string path = std::string(kProgramFolder) + "/" + name.str();
    if (is_library_header(name) || name.ends_with(".def") || memory.exists(path)) continue;
    std::string text = "#pragma once\n#pragma clang system_header\n";
    if (name.starts_with("cuda/std/") && name != "cuda/std/atomic") {
      // Programs have the host's standard library; its constexpr functions are the device's as
      // well.
      text += "#pragma clang force_cuda_host_device begin\n#include <" + name.drop_front(9).str() +
              ">\n#pragma clang force_cuda_host_device end\n#include \"" + kHeaderFolder +
              "/td_cuda_std.h\"\n";
      memory.addFile(path, 0, MemoryBuffer::getMemBufferCopy(text, name));
      continue;
    }
    if (is_for_both(name))
      text += "#pragma push_macro(\"__TD_FN\")\n#undef __TD_FN\n#define __TD_FN __TD_HD_FN\n";
    text += "#include \"" + std::string(kHeaderFolder) + "/" + name.str() + "\"\n";
    if (is_for_both(name)) text += "#pragma pop_macro(\"__TD_FN\")\n";
    memory.addFile(path, 0, MemoryBuffer::getMemBufferCopy(text, name));
  }
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> over_real_files(MemoryFiles memory) {
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::vfs::createPhysicalFileSystem());
  overlay->pushOverlay(std::move(memory));
  return overlay;
}

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_file_system(
    std::unique_ptr<MemoryBuffer> main, std::unique_ptr<MemoryBuffer> pch) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  add_headers(*memory, kHeaderFolder, kDeviceHeaders, kDeviceHeaderCount);
  if (main) memory->addFile(kMainFile, 0, std::move(main));
  if (pch) memory->addFile(kPchFile, 0, std::move(pch));
  return over_real_files(std::move(memory));
}

namespace {

// nvcc takes `kernel<< <grid, block>> >(…)` for a launch, Clang only the brackets without blanks.
// Columns stay.
void join_launches(std::string& result) {
  for (std::size_t at = result.find("<< <"); at != std::string::npos;
       at = result.find("<< <", at + 4))
    result.replace(at, 4, "<<< ");
  for (std::size_t at = result.find(">> >"); at != std::string::npos;
       at = result.find(">> >", at + 4)) {
    const std::size_t next = result.find_first_not_of(' ', at + 4);
    if (next != std::string::npos && result[next] == '(') result.replace(at, 4, ">>> ");
  }
}

// nvcc takes `__shared__ alignas(16) float x[4];`; of Clang's two keywords for it only C's may
// stand behind an attribute. What follows on the line moves by one column.
void spell_alignment(std::string& result) {
  constexpr StringRef before = "__shared__", keyword = "alignas";
  for (std::size_t at = result.find(before); at != std::string::npos;
       at = result.find(before, at)) {
    at = result.find_first_not_of(" \t\n", at + before.size());
    if (at != std::string::npos && StringRef(result).substr(at).starts_with(keyword))
      result.replace(at, keyword.size(), "_Alignas");
  }
}

// What nvcc accepts and Clang does not, in Clang's words; "" where there is no such thing.
std::string adapted(StringRef text) {
  std::string result = text.str();
  join_launches(result);
  spell_alignment(result);
  return result == text ? "" : result;
}

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_program_file_system(const std::string& file,
                                                                         const std::string* image) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  add_headers(*memory, kHeaderFolder, kDeviceHeaders, kDeviceHeaderCount);
  add_headers(*memory, kProgramFolder, kProgramHeaders, kProgramHeaderCount);
  forward_device_headers(*memory);
  refuse_missing_headers(*memory);
  if (auto main = MemoryBuffer::getFile(file)) {
    const std::string text = adapted((*main)->getBuffer());
    llvm::SmallString<256> path(file);
    llvm::sys::fs::make_absolute(path);
    if (!text.empty()) memory->addFile(path, 0, MemoryBuffer::getMemBufferCopy(text, file));
  }
  if (image != nullptr)
    memory->addFile(kImageFile, 0, MemoryBuffer::getMemBuffer(*image, kImageFile, false));
  return over_real_files(std::move(memory));
}

std::uint64_t device_headers_hash() {
  static const std::uint64_t hash = [] {
    std::uint64_t value = kDeviceHeaderCount;
    for (std::size_t i = 0; i < kDeviceHeaderCount; ++i) {
      value = value * 0x9e3779b97f4a7c15u + llvm::xxh3_64bits(StringRef(kDeviceHeaders[i].name));
      value = value * 0x9e3779b97f4a7c15u + llvm::xxh3_64bits(StringRef(kDeviceHeaders[i].text));
    }
    return value;
  }();
  return hash;
}

}  // namespace td::compile
