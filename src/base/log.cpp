#include "base/log.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace td::base {

namespace {

LogLevel level_from_environment() {
  const char* text = std::getenv("TREADLE_LOG");
  std::string_view name = text ? text : "";
  if (name == "off") return LogLevel::off;
  if (name == "info") return LogLevel::info;
  if (name == "debug") return LogLevel::debug;
  return LogLevel::warn;
}

}  // namespace

bool log_enabled(LogLevel level) {
  static const LogLevel limit = level_from_environment();
  return level <= limit && level != LogLevel::off;
}

void log(LogLevel level, std::string_view message) {
  if (!log_enabled(level)) return;
  std::string line = "treadle: " + std::string(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void log_once(LogLevel level, std::string_view message) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> seen;
  {
    std::lock_guard lock(mutex);
    if (!seen.emplace(message).second) return;
  }
  log(level, message);
}

}  // namespace td::base
