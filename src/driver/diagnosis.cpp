#include "driver/diagnosis.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "driver/state.h"

namespace td::driver {

namespace {

namespace fs = std::filesystem;

bool exists(const char* path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string first_line(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// A display-class PCI device of NVIDIA's.
bool nvidia_card_visible() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    if (first_line(entry.path() / "vendor") == "0x10de" &&
        first_line(entry.path() / "class").rfind("0x03", 0) == 0)
      return true;
  }
  return false;
}

bool in_container() { return exists("/.dockerenv") || exists("/run/.containerenv"); }

bool on_wsl() {
  return first_line("/proc/sys/kernel/osrelease").find("icrosoft") != std::string::npos;
}

}  // namespace

std::string explain_missing_driver() {
  const bool kernel_side = exists("/proc/driver/nvidia/version");
  if (in_container()) {
    if (!exists("/dev/nvidiactl"))
      return "no NVIDIA driver library, and this container was started without a GPU; where the "
             "host has one, start the "
             "container with --gpus all (or its CDI device)";
    return "GPU device nodes are here but the driver library is not; start the container with "
           "NVIDIA_DRIVER_CAPABILITIES=compute,utility";
  }
  if (kernel_side)
    return "the NVIDIA kernel driver runs but its user library was not found; install the driver's "
           "compute library package";
  if (on_wsl())
    return "no NVIDIA driver library under WSL; install NVIDIA's Windows driver and run wsl "
           "--update";
  if (nvidia_card_visible())
    return "an NVIDIA GPU is here but no driver is installed; install the distribution's NVIDIA "
           "driver and reboot";
  return "no NVIDIA driver library and no NVIDIA GPU were found on this machine; nothing to "
         "repair, use the software device";
}

std::string explain_init_failure(CUresult result, const std::string& file) {
  if (result == cuda::CUDA_ERROR_NO_DEVICE) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
      return base::cat("the driver sees no device, and CUDA_VISIBLE_DEVICES is set to \"", visible,
                       "\"; unset it, or name a GPU that exists");
    if (in_container() && !exists("/dev/nvidiactl"))
      return "the driver library is here but this container has no GPU; start it with --gpus all "
             "(or its CDI device)";
    if (!exists("/proc/driver/nvidia/version"))
      return "the driver library is here but the NVIDIA kernel module is not loaded; install or "
             "load it, or reboot";
  }
  std::string cure = result_cure(result);
  return base::cat(result_meaning(result), " (driver library ", file, ")", cure.empty() ? "" : "; ",
                   cure);
}

}  // namespace td::driver
