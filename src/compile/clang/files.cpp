#include "compile/clang/files.h"

#include "compile/clang/device_headers.h"
#include "llvm/Support/xxhash.h"

namespace td::compile {

using llvm::MemoryBuffer;
using llvm::StringRef;

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_file_system(
    std::unique_ptr<MemoryBuffer> main, std::unique_ptr<MemoryBuffer> pch) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const std::string folder = std::string(kHeaderFolder) + "/";
  for (std::size_t i = 0; i < kDeviceHeaderCount; ++i) {
    const DeviceHeader& header = kDeviceHeaders[i];
    const StringRef text(header.text.data(), header.text.size());
    memory->addFile(folder + std::string(header.name), 0,
                    MemoryBuffer::getMemBuffer(text, header.name));
  }
  if (main) memory->addFile(kMainFile, 0, std::move(main));
  if (pch) memory->addFile(kPchFile, 0, std::move(pch));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::vfs::createPhysicalFileSystem());
  overlay->pushOverlay(memory);
  return overlay;
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
