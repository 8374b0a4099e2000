// Arrays that share memory: which array a view was taken from.
#pragma once

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {

// Are both arrays views of one storage?
bool same_storage(const Array& a, const Array& b);

// A storage remembers the array that views were first taken from, and where its owner keeps it
// (`handle`: any address, never read). Later calls change nothing while that array lives.
void remember_source(const Array& source, const void* handle);

struct ViewSource {
  bool is_self = false;          // the array itself is it, or nobody has taken a view yet
  const void* handle = nullptr;  // where it was; null when it is gone
};
ViewSource source_of(const Array& array);

// All the memory behind an array as a new 1-D array of its dtype.
Array whole_storage(const Array& array);

}  // namespace td
