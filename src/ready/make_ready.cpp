// Build step: makes the kernels that come with the package. Usage: treadle_make_ready FOLDER GPUS
//
// GPUS: capabilities such as 80,90,120, of which each also serves the higher minor ones; "native"
// for those of the GPUs of this machine; "" for none.
//
// The operations of operations.cpp run on the software device while kernels are only listed, once
// as on a device that holds few threads and once as on one that holds many. What is listed is then
// compiled, on all cores: for the software device into bitcode and code (base/ready_pack.h); for
// GPUs, where NVRTC is found, the second list into cubins.
//
// What the folder has from an earlier build and what still holds is taken over. The last line of
// the output says what is in it.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "base/ready_pack.h"
#include "base/text.h"
#include "compile/compile.h"
#include "fuse/kernel_cache.h"
#include "ready/operations.h"
#include "softdev/jit/lower_image.h"
#include "treadle/device.h"
#include "treadle/sorting.h"

namespace td::ready {

namespace {

using compile::Source;

struct Kernel {
  Source source;
  compile::Target target;  // of the software device
  std::string name;
};

// 90 for sm_90, ascending.
std::set<int> capabilities_of(const std::string& gpus) {
  std::set<int> capabilities;
  if (gpus == "native") {
    for (const Device& device : Device::all())
      if (!device.is_software()) {
        auto [major, minor] = device.compute_capability();
        capabilities.insert(10 * major + minor);
      }
    return capabilities;
  }
  if (gpus.empty()) return capabilities;
  for (const std::string& word : base::split(gpus, ',')) {
    int capability = std::atoi(word.c_str());
    if (capability < 50)
      throw ValueError(base::cat("GPUS=", gpus, ": `", word,
                                 "` is no compute capability; write 80,90 or native"));
    capabilities.insert(capability);
  }
  return capabilities;
}

std::vector<Kernel> list_kernels(bool few_threads, std::set<std::string>& known) {
  std::vector<Kernel> kernels;
  const fuse::KernelList list = [&](const Source& source, const compile::Target& target,
                                    const char* name) {
    if (known.insert(source.text).second) kernels.push_back({source, target, name});
  };
  work_as_if(few_threads);
  fuse::list_kernels(&list);
  run_common_operations();
  fuse::list_kernels(nullptr);
  work_as_if({});
  return kernels;
}

// Runs work(0) … work(count - 1) on all cores. The first error ends it and is thrown.
template <class Work>
void in_parallel(std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  auto run = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) {
      try {
        work(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

// A pack of an earlier build, and the one that takes its place.
struct Pack {
  explicit Pack(std::string file) : path(std::move(file)), before(path) {}
  std::string path;
  base::ReadyPack before;
  base::ReadyPackWriter now;
};

struct Packs {
  explicit Packs(const std::string& folder)
      : image(folder + "/image"), object(folder + "/object") {}
  Pack image, object;
};

void make_for_software_device(const std::vector<Kernel>& kernels, Packs& packs) {
  in_parallel(kernels.size(), [&](std::size_t i) {
    const Kernel& kernel = kernels[i];
    compile::Image image =
        make_ready(kernel.source, kernel.target, packs.image.before, packs.image.now);
    softdev::LowerRequest request;
    request.bitcode = image.bytes;
    std::string log;
    if (make_ready_object(request, &log, packs.object.before, packs.object.now) != 0)
      throw InternalError(base::cat("kernel ", kernel.name, ": ", log));
  });
}

// What was made, for people.
std::string make_for_gpus(const std::vector<Kernel>& kernels, const std::set<int>& capabilities,
                          Pack& pack) {
  if (capabilities.empty()) return "none for GPUs (none here, none asked for)";
  compile::CompilerInfo compiler = compile::compiler_info(base::ImageFormat::cubin);
  if (!compiler.found) return "none for GPUs (no NVRTC here)";
  std::string made, refused;
  for (int capability : capabilities) {
    const compile::Target target{base::ImageFormat::cubin, capability};
    try {
      in_parallel(kernels.size(), [&](std::size_t i) {
        make_ready(kernels[i].source, target, pack.before, pack.now);
      });
      made += base::cat(made.empty() ? "" : ", ", "sm_", capability);
    } catch (const NotSupported& why) {  // a GPU that this NVRTC has left behind
      refused += base::cat("; ", why.what());
    }
  }
  if (made.empty()) return "none for GPUs" + refused;
  return base::cat(kernels.size(), " for ", made, " with ", compiler.name, refused);
}

void make(const std::string& folder, const std::string& gpus) {
  auto start = std::chrono::steady_clock::now();
  Device::from_name("soft").use();
  std::set<std::string> known, known_many;
  std::vector<Kernel> kernels = list_kernels(true, known);
  for (Kernel& kernel : list_kernels(false, known)) kernels.push_back(std::move(kernel));
  std::vector<Kernel> for_many = list_kernels(false, known_many);

  std::filesystem::create_directories(folder);
  Packs packs(folder);
  make_for_software_device(kernels, packs);
  std::string for_gpus = make_for_gpus(for_many, capabilities_of(gpus), packs.image);
  std::uintmax_t bytes = 0;
  for (const Pack* pack : {&packs.image, &packs.object}) {
    if (!pack->now.write(pack->path)) throw InternalError("cannot write " + pack->path);
    bytes += std::filesystem::file_size(pack->path);
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("ready-made kernels: %zu for the software device, %s; %.1f MB in %.1f s\n",
              kernels.size(), for_gpus.c_str(), static_cast<double>(bytes) / 1e6, took.count());
}

}  // namespace

}  // namespace td::ready

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: treadle_make_ready FOLDER GPUS\n");
    return 2;
  }
  try {
    td::ready::make(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "treadle_make_ready: %s\n", error.what());
    return 1;
  }
  return 0;
}
