// The file system that Clang sees: our headers and the user's text in memory; real files only where
// the user's own #include or -I names them.
#pragma once

#include <memory>
#include <string>

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace td::compile {

// Folder of everything that lives in memory; it exists on no disk.
inline constexpr const char* kVirtualFolder = "/__treadle__";
inline constexpr const char* kHeaderFolder = "/__treadle__/compile/include";
// Of whole programs: the runtime API and the device headers that may stand beside the C library's.
inline constexpr const char* kProgramFolder = "/__treadle__/runtime/include";
inline constexpr const char* kProgramPrelude = "/__treadle__/runtime/include/td_program.h";
inline constexpr const char* kImageFile = "/__treadle__/image";
inline constexpr const char* kMainFile = "/__treadle__/main.cu";
inline constexpr const char* kPchFile = "/__treadle__/prelude.pch";
inline constexpr const char* kPreludeFile = "/__treadle__/compile/include/treadle_prelude.h";
inline constexpr const char* kPreludePtxFile = "/__treadle__/compile/include/treadle_prelude_ptx.h";
inline constexpr const char* kPreludeHalfFile =
    "/__treadle__/compile/include/treadle_prelude_half.h";
inline constexpr const char* kPreludeBfloatFile =
    "/__treadle__/compile/include/treadle_prelude_bfloat.h";
inline constexpr const char* kPreludeRandomFile =
    "/__treadle__/compile/include/treadle_prelude_random.h";

// Real files beneath an overlay of the embedded device headers; `main` and `pch` (may be null) are
// added to it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_file_system(
    std::unique_ptr<llvm::MemoryBuffer> main, std::unique_ptr<llvm::MemoryBuffer> pch);

// The same for `file` of a program; `image` (may be null) is its finished device code.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_program_file_system(const std::string& file,
                                                                         const std::string* image);

// Changes whenever a device header changes.
std::uint64_t device_headers_hash();

}  // namespace td::compile
