#include "compile/clang/files.h"

#include "compile/clang/device_headers.h"
#include "llvm/Support/xxhash.h"

namespace td::compile {

using llvm::MemoryBuffer;
using llvm::StringRef;

namespace {

using MemoryFiles = llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem>;

void add_headers(llvm::vfs::InMemoryFileSystem& memory, const std::string& folder, const DeviceHeader* headers,
                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const StringRef text(headers[i].text.data(), headers[i].text.size());
    memory.addFile(folder + "/" + std::string(headers[i].name), 0, MemoryBuffer::getMemBuffer(text, headers[i].name));
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

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_program_file_system(const std::string* image) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  add_headers(*memory, kHeaderFolder, kDeviceHeaders, kDeviceHeaderCount);
  add_headers(*memory, kProgramFolder, kProgramHeaders, kProgramHeaderCount);
  if (image != nullptr) memory->addFile(kImageFile, 0, MemoryBuffer::getMemBuffer(*image, kImageFile, false));
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
