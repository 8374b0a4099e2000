// The user's own header files that a source reaches: part of the cache key, so that editing a
// header recompiles.
#pragma once

#include <string>
#include <vector>

#include "base/hash.h"
#include "compile/compile.h"

namespace td::compile {

// Adds name and text of every file that the source includes, directly or not, from the folders of
// its -I options
// (-include files too). Over-approximates: an #include under an untaken #if counts. False when the
// set cannot be known
// (#include MACRO, or more than some thousand files): then the result must not be cached.
bool hash_includes(const Source& source, base::Hasher& hasher);

// Folders of -I, -I folder, --include-path=folder, in order.
std::vector<std::string> include_folders(const std::vector<std::string>& options);

}  // namespace td::compile
