// The two kinds of module image. A device's provider states which one it loads; compile/ makes it.
#pragma once

namespace td::base {
enum class ImageFormat { cubin, llvm_bitcode };
}
