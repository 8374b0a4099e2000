// The arguments of Clang's two compilations of a program's source file, host and device. Those of
// the host are what Clang's own driver says for this machine's C++ compiler; those of the device
// keep of them what is about the language and the user's headers and macros.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/program.h"

namespace td::compile {

using Arguments = std::vector<std::string>;

// The host's, without input, output and language; nothing when the options are wrong (`log` says
// how).
std::optional<Arguments> host_arguments(const ProgramRequest& request, std::string& log);

// Both sides, ready for CompilerInvocation.
Arguments host_side(const ProgramRequest& request, const Arguments& host);
Arguments device_side(const ProgramRequest& request, const Arguments& host);

}  // namespace td::compile
