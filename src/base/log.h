// One line to stderr per call. Level from TREADLE_LOG: off, warn (default), info, debug.
#pragma once

#include <string_view>

namespace td::base {

enum class LogLevel { off, warn, info, debug };

bool log_enabled(LogLevel level);
void log(LogLevel level, std::string_view message);
// Logs a message once per process and text.
void log_once(LogLevel level, std::string_view message);

}  // namespace td::base
