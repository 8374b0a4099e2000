// What was made with the package, so that nobody has to make it: a read-only file of byte strings
// by key, searched before the disk cache.
//
// The files lie in the folder `ready` beside the library ("image": compiled sources, "object": code
// of the software device). Each value has a checksum and so has the table of keys: a damaged,
// truncated or foreign file, or a damaged value, counts as absent. Keys hold all that a value
// depends on (the compiler's build ID among it), so a pack of another build is never hit.
// TREADLE_READY_DIR names another folder; set to an empty string it turns the packs off.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace td::base {

class ReadyPack {
 public:
  // Opens the file `path`; a pack that cannot be used is empty.
  explicit ReadyPack(const std::string& path);
  ~ReadyPack();
  ReadyPack(const ReadyPack&) = delete;
  ReadyPack& operator=(const ReadyPack&) = delete;

  // The pack `name` of the package. Opened on first use, for the life of the process.
  static const ReadyPack& image();
  static const ReadyPack& object();

  // The value, in memory as long as the pack is; nothing when it is not there or damaged.
  std::optional<std::string_view> load(const Hash128& key) const;
  std::size_t size() const { return count_; }

 private:
  const unsigned char* bytes_ = nullptr;
  std::size_t length_ = 0, count_ = 0;
};

// Collects values, from several threads, and writes them as one file.
class ReadyPackWriter {
 public:
  void add(const Hash128& key, std::string_view value);
  // Whole or not at all; false when the file cannot be written.
  bool write(const std::string& path) const;

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> values_;
};

}  // namespace td::base
