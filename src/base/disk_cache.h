// A cache of byte strings on disk, shared by all processes of a user.
//
// Folder: TREADLE_CACHE_DIR, else $XDG_CACHE_HOME/treadle, else ~/.cache/treadle. An entry is one
// file, written to a temporary name and renamed, so a reader sees a whole entry or none. Each
// carries a magic, its key and a checksum; a damaged, truncated or foreign file counts as absent
// and is rewritten. The total size is bounded (TREADLE_CACHE_MAX_BYTES, default 1 GiB): the least
// recently used entries go first. A folder that cannot be written turns the cache off silently (one
// log line); nothing ever fails because of the cache. TREADLE_CACHE_DIR set to an empty string
// turns it off.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace td::base {

class DiskCache {
 public:
  // `section` is a sub-folder: "image", "object", "pch".
  explicit DiskCache(std::string section);
  std::optional<std::string> load(const Hash128& key) const;
  void store(const Hash128& key, std::string_view value) const;
  // The folder of this section, "" when the cache is off.
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace td::base
