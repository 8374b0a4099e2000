// Image -> code, through what was made with the package and the cache of objects on disk. With a
// hit no compiler is loaded into the process.
#pragma once

#include <string>
#include <string_view>

#include "base/cuda_abi.h"
#include "softdev/simt/lower.h"

namespace td::base {
class ReadyPack;
class ReadyPackWriter;
}  // namespace td::base

namespace td::softdev {

// CUDA_ERROR_FILE_NOT_FOUND: there is no compiler. CUDA_ERROR_NOT_SUPPORTED: the image uses
// something that the software device cannot do. `log` says what, for people.
CUresult lower_image(const LowerRequest& request, LowerReply* reply, std::string* log);

// For the build of the package: makes code for every processor of the level x86-64-v3, unless the
// pack `before` of an earlier build has it, and adds it to `pack` (base/ready_pack.h). Runs nothing
// of it.
CUresult make_ready_object(LowerRequest request, std::string* log, const base::ReadyPack& before,
                           base::ReadyPackWriter& pack);

// A reply as bytes, and back; false when the bytes are not a whole reply.
std::string write_reply(const LowerReply& reply);
bool read_reply(std::string_view bytes, LowerReply* reply);

// Names this machine's processor and its features: what code for it depends on.
std::string processor_key();

}  // namespace td::softdev
