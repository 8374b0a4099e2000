#include "driver/export.h"

#include <cstdlib>
#include <string_view>

#include "base/text.h"

const td::driver::Provider* td_program_provider(std::string* why) {
  const char* asked = std::getenv("TREADLE_DEVICE");
  const std::string_view name = asked ? asked : "auto";
  if (!name.empty() && name != "auto" && name.substr(0, 4) != "soft") {
    *why = td::base::cat("TREADLE_DEVICE=", name,
                         ", but a program made by treadle cc has code for the software device "
                         "only; unset it, or build the program with nvcc for a GPU");
    return nullptr;
  }
  const td::driver::Provider& software = td::driver::software_provider();
  if (software.usable()) return &software;
  *why = "the software device cannot be used: " + software.problem;
  return nullptr;
}
