// How exact matrix products are.
#pragma once

namespace [[gnu::visibility("default")]] td {

// On: a GPU may round the operands of products of float32 and complex64 to TF32, 10 bits of
// fraction, which is several times faster. For the whole process, from the next product on; off
// unless the environment variable TREADLE_TF32=1 says otherwise. The software device never rounds.
bool tf32();
void set_tf32(bool on);

}  // namespace td
