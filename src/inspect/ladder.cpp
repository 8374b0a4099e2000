// The discovery ladder: from the driver library to a kernel whose result is compared, each rung its
// own result.
#include <array>
#include <functional>

#include "base/compile_counts.h"
#include "base/plugin.h"
#include "base/version.h"
#include "compile/compile.h"
#include "driver/library_search.h"
#include "driver/provider.h"
#include "treadle/diagnose.h"
#include "treadle/treadle.h"

namespace td::diagnose {
namespace {

constexpr const char* kSource = R"(
// out[i] = 3 i + 1
extern "C" __global__ void ladder_check(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * i + 1;
}
)";
constexpr int kCount = 100;

// What the rungs hand on to the next one.
struct Climb {
  const driver::Provider& provider;
  std::optional<Device> device;
  std::optional<Kernel> kernel;
  Array out;
  std::array<int, kCount> host{};
};

std::string open_context(Climb& climb) {
  climb.device = Device::from_name(climb.provider.prefix + ":0");
  climb.device->use();
  auto [major, minor] = climb.device->compute_capability();
  return climb.device->name() + ", " + climb.device->description() + ", compute capability " +
         std::to_string(major) + "." + std::to_string(minor);
}

std::string find_compiler(Climb& climb) {
  compile::CompilerInfo found = compile::compiler_info(climb.provider.image_format);
  if (!found.found) throw NotSupported(found.problem);
  return found.name + ", " + found.file;
}

std::string compile_kernel(Climb& climb) {
  climb.kernel.emplace(kSource, "ladder_check", ModuleOptions{{}, {}, "ladder.cu", 1});
  return "ladder_check, " + std::to_string(climb.kernel->params().size()) + " parameters";
}

std::string launch_kernel(Climb& climb) {
  climb.out = full({kCount}, std::int64_t{-1}, td::int32);
  climb.kernel->launch({.grid = {4}, .block = {32}}, climb.out, kCount);
  climb.device->synchronize();
  return "4 blocks of 32 threads";
}

std::string copy_back(Climb& climb) {
  to_host(climb.out, climb.host.data(), {sizeof(int)});
  return std::to_string(sizeof climb.host) + " bytes";
}

std::string compare(Climb& climb) {
  for (int i = 0; i < kCount; ++i)
    if (climb.host[i] != 3 * i + 1)
      throw ValueError("element " + std::to_string(i) + " is " + std::to_string(climb.host[i]) +
                       ", expected " + std::to_string(3 * i + 1));
  return "100 elements equal";
}

struct Step {
  const char* name;
  std::string (*take)(Climb&);
};
constexpr Step kSteps[] = {
    {"context", open_context}, {"compiler", find_compiler}, {"compile", compile_kernel},
    {"launch", launch_kernel}, {"copy back", copy_back},    {"compare", compare},
};

}  // namespace

std::vector<Rung> ladder(std::string_view kind) {
  const driver::Provider& provider =
      kind == "cuda" ? driver::nvidia_provider() : driver::software_provider();
  std::vector<Rung> result;
  std::string failed;
  for (const driver::Rung& rung : driver::discovery(provider)) {
    if (!failed.empty()) {
      result.push_back({rung.name, "SKIPPED", failed + " did not pass"});
    } else {
      result.push_back({rung.name, rung.passed ? "PASS" : "FAIL", rung.detail});
      if (!rung.passed) failed = rung.name;
    }
  }
  Climb climb{provider, {}, {}, {}, {}};
  for (const Step& step : kSteps) {
    if (!failed.empty()) {
      result.push_back({step.name, "SKIPPED", failed + " did not pass"});
      continue;
    }
    try {
      result.push_back({step.name, "PASS", step.take(climb)});
    } catch (const std::exception& e) {
      result.push_back({step.name, "FAIL", e.what()});
      failed = step.name;
    }
  }
  return result;
}

bool compiler_loaded() { return base::cc_plugin_loaded(); }

CompileCounts compile_counts() {
  const base::CompileCounts& now = base::compile_counts();
  return {{now.sources, now.cached_sources, now.ready_sources},
          {now.objects, now.cached_objects, now.ready_objects}};
}

void set_library_search_path(std::vector<std::string> folders) {
  driver::set_library_search_path(std::move(folders));
}

std::string version() { return base::kVersion; }

}  // namespace td::diagnose
