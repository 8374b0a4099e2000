// Source -> image, through the disk cache. One interface, two compilers: NVRTC makes cubin for
// NVIDIA GPUs, Clang makes LLVM bitcode for the software device. Which one a device takes is a fact
// of the device's provider (driver/device.h: image_format), so nothing here asks "is it software?".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compile/clang_plugin.h"
#include "base/image_format.h"
#include "treadle/error.h"
#include "treadle/kernel.h"

namespace td::base {
class ReadyPack;
class ReadyPackWriter;
}  // namespace td::base

namespace td::compile {

struct Source {
  std::string text;
  ModuleOptions options;
};

struct Image {
  std::string bytes;  // what cuModuleLoadData takes
  std::vector<KernelSignature> kernels;
  std::map<std::string, std::string> lowered_names;  // name expression -> symbol
  std::string log;
  bool from_cache = false;
};

using base::ImageFormat;

struct Target {
  ImageFormat format;
  int compute_capability = 90;  // 10*major + minor
};

// Throws CompileError with the log; NotSupported when the compiler that the target needs is
// missing, with the file that was looked for and the cure.
Image compile(const Source& source, const Target& target);

// The image where that needs no compiler: it came with the package or is in the disk cache.
std::optional<Image> find(const Source& source, const Target& target);

// For the build of the package: compiles, unless the pack `before` of an earlier build has the
// image, and adds it to `pack` (base/ready_pack.h). Later `compile` finds it there, whatever
// compiler the machine has: bitcode for the plug-in of this build, a cubin on every device of the
// target's major capability from its minor one on. Throws as `compile`.
Image make_ready(const Source& source, const Target& target, const base::ReadyPack& before,
                 base::ReadyPackWriter& pack);

// What the discovery ladder reports.
struct CompilerInfo {
  bool found = false;
  std::string name;     // "NVRTC 13.0", "Clang 19.1.7"
  std::string file;     // the file really loaded
  std::string problem;  // when not found
};
CompilerInfo compiler_info(ImageFormat format);

}  // namespace td::compile
