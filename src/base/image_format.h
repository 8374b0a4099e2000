// The two kinds of module image. A device's provider states which one it loads; compile/ makes it.
#pragma once

namespace td::base {
enum class ImageFormat { cubin, llvm_bitcode };

// A driver that loads such an image compiles it first, as it would PTX.
constexpr bool is_compiled_when_loaded(ImageFormat format) {
  return format == ImageFormat::llvm_bitcode;
}
}  // namespace td::base
