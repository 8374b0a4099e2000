// What Treadle finds on this machine, one observation at a time: the first step of `treadle tour`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] td {
namespace diagnose {

// One rung of the discovery ladder. A rung is reached only when the ones before it passed.
struct Rung {
  std::string name;    // "driver library", "cuInit", "device count", "context", "compiler",
                       // "compile", "launch", …
  std::string status;  // "PASS", "FAIL", "SKIPPED"
  std::string detail;  // which file, which version, what was compared; or why not, with the cure
};

// Climbs from the driver library to a kernel whose result is compared, on the first device of a
// kind: "cuda" or "soft". Never throws for what it finds: a rung that fails ends the climb and the
// rest are SKIPPED.
std::vector<Rung> ladder(std::string_view kind);

// True once the software device's compiler has been opened in this process.
bool compiler_loaded();

// How the kernels of this process came to be, so far. Sources are CUDA C++ that became an image;
// objects are images that became code of this processor, on the software device only.
struct CompileCounts {
  struct Row {
    int compiled = 0;  // by a compiler, in this process
    int cached = 0;    // found in the disk cache
    int ready = 0;     // made with the package
  };
  Row sources, objects;
};
CompileCounts compile_counts();

// Folders that hold NVIDIA's shared libraries (of wheel packages, say), searched before CUDA_PATH
// and the system. Replaces the list; call it before the first device is used.
void set_library_search_path(std::vector<std::string> folders);

// Treadle's version, "0.1.0".
std::string version();

}  // namespace diagnose
}  // namespace td
