// Treadle's version; part of every cache key.
#pragma once

namespace td::base {
inline constexpr const char* kVersion = "0.1.0";
// Raise when the format of a cached image or object, or the meaning of generated code, changes.
inline constexpr int kCacheFormat = 15;
}  // namespace td::base
