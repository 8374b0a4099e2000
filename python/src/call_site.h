// The place in the user's Python program that is calling us.
#pragma once

namespace td::python {

// "file.py:12" of the Python line that is executing, or null outside of any. The text is valid
// until the next call in this thread. Cheap enough for every launch: a place that was seen before
// is found by its code object and offset.
const char* call_site();

}  // namespace td::python
