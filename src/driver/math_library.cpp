#include "driver/math_library.h"

#include <dlfcn.h>

#include "base/text.h"
#include "driver/library_search.h"

namespace td::driver {

namespace {

LibraryState built_in(const Provider& provider, const LibraryFacts& facts, const FillTable& fill) {
  auto resolve = [](void* from, const char* symbol) {
    return static_cast<const Provider*>(from)->library_symbol(symbol);
  };
  std::string missing = fill(resolve, const_cast<Provider*>(&provider));
  LibraryState state{"(built in)", ""};
  if (!missing.empty())
    state.problem = base::cat("this build has no ", facts.what, " for the software device (",
                              missing, " is missing); ", facts.build_cure);
  return state;
}

}  // namespace

LibraryState open_math_library(const Provider& provider, const LibraryFacts& facts,
                               const FillTable& fill) {
  if (provider.library_symbol) return built_in(provider, facts, fill);
  const char* suffix = provider.driver_version >= 13000 ? "" : "-cu12";
  Library found = open_library(facts.names, facts.companion,
                               base::cat("the wheel package ", facts.package, suffix));
  LibraryState state{found.file, found.problem};
  if (!found) return state;
  std::string missing =
      fill([](void* handle, const char* symbol) { return dlsym(handle, symbol); }, found.handle);
  if (!missing.empty())
    state.problem = base::cat(found.file, " lacks ", missing, "; install ", facts.version);
  return state;
}

}  // namespace td::driver
