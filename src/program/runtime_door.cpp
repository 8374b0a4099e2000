#include "program/runtime_door.h"

#include <cstdlib>

#include "base/disk_cache.h"
#include "base/hash.h"
#include "base/plugin.h"
#include "base/text.h"
#include "compile/program.h"

using namespace td;

const driver::Provider* td_program_provider(std::string* why) {
  const char* asked = std::getenv("TREADLE_DEVICE");
  const std::string_view name = asked ? asked : "auto";
  if (!name.empty() && name != "auto" && name.substr(0, 4) != "soft") {
    *why = base::cat("TREADLE_DEVICE=", name,
                     ", but a program made by treadle cc has code for the software device only; "
                     "unset it, or build the "
                     "program with nvcc for a GPU");
    return nullptr;
  }
  const driver::Provider& software = driver::software_provider();
  if (software.usable()) return &software;
  *why = "the software device cannot be used: " + software.problem;
  return nullptr;
}

bool td_program_link(const std::vector<std::string_view>& images, std::string* image,
                     std::string* why) {
  static const base::DiskCache& cache = *new base::DiskCache("program");
  base::Hasher hasher;
  for (std::string_view part : images) hasher.add(part);
  hasher.add(base::cc_plugin_stamp());
  const base::Hash128 key = hasher.finish();
  if (auto stored = cache.load(key)) {
    *image = std::move(*stored);
    return true;
  }
  using Function = void (*)(const compile::LinkRequest&, compile::LinkReply&);
  auto link = reinterpret_cast<Function>(base::cc_plugin_symbol("td_cc_link_images", why));
  if (link == nullptr) return false;
  compile::LinkRequest request{images};
  compile::LinkReply reply;
  link(request, reply);
  if (!reply.ok) {
    *why = reply.log;
    return false;
  }
  cache.store(key, reply.image);
  *image = std::move(reply.image);
  return true;
}
