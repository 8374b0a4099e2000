// bench_driver [--device NAME] [--mib N] [--json]
//
// What the layer under everything else costs on one device, beside what the bare driver takes:
//   launch     a kernel with four arguments through the table of driver functions: host time of the
//   call, time per
//              launch of a full queue, and launch + wait
//   pool       a hit of the memory pool (allocate + free), beside a driver allocation
//   copies     host <-> device of pageable memory through td::driver::upload and download, beside
//   the driver's own
//              copy of pageable and of pinned memory
// Each figure is the best of several repeats. The name of the device and what it is stand in the
// output.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "compile/compile.h"
#include "driver/state.h"

namespace {

using namespace td;
using driver::DeviceState;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "auto";
  std::size_t mib = 256;
  bool json = false;
};

struct Figure {
  std::string name;
  double value;
  const char* unit;
};

struct Bench {
  std::shared_ptr<DeviceState> device;
  std::size_t bytes;
  std::vector<Figure> figures;
  void add(const std::string& name, double value, const char* unit) {
    figures.push_back({name, value, unit});
  }
};

double microseconds(const std::function<void()>& work) {
  auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Best of `repeats` runs, after one that is not counted.
double best(int repeats, const std::function<void()>& work) {
  work();
  double least = 1e300;
  for (int i = 0; i < repeats; ++i) least = std::min(least, microseconds(work));
  return least;
}

constexpr const char* kKernel = R"(
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
)";

void launches(Bench& bench) {
  DeviceState& device = *bench.device;
  compile::Source source;
  source.text = kKernel;
  int capability = 10 * device.attribute(cuda::COMPUTE_CAPABILITY_MAJOR) +
                   device.attribute(cuda::COMPUTE_CAPABILITY_MINOR);
  driver::LoadedModule module(
      bench.device, compile::compile(source, {device.provider().image_format, capability}).bytes);
  CUfunction function = module.function("add");
  driver::Memory x(bench.device, 4096, nullptr), y(bench.device, 4096, nullptr),
      z(bench.device, 4096, nullptr);
  CUdeviceptr px = x.address(), py = y.address(), pz = z.address();
  int n = 1000;
  void* params[] = {&px, &py, &pz, &n};
  auto launch = [&] {
    TD_CALL(device, cuLaunchKernel, function, 4, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr);
  };
  auto wait = [&] { TD_CALL(device, cuCtxSynchronize); };

  constexpr int kBatch = 500;
  double call = 1e300;
  for (int repeat = 0; repeat < 12; ++repeat) {
    double time = microseconds([&] {
      for (int i = 0; i < kBatch; ++i) launch();
    });
    wait();
    call = std::min(call, time / kBatch);
  }
  bench.add("cuLaunchKernel, 4 arguments, host time of the call", call, "us");
  bench.add("cuLaunchKernel, time per launch of a full queue",
            best(5,
                 [&] {
                   for (int i = 0; i < 5 * kBatch; ++i) launch();
                   wait();
                 }) /
                (5 * kBatch),
            "us");
  bench.add("cuLaunchKernel + wait",
            best(5,
                 [&] {
                   for (int i = 0; i < kBatch; ++i) {
                     launch();
                     wait();
                   }
                 }) /
                kBatch,
            "us");
}

void pool(Bench& bench) {
  driver::MemoryPool& pool = bench.device->pool();
  for (std::size_t bytes : {std::size_t{4096}, std::size_t{4} << 20}) {
    constexpr int kCount = 20000;
    double time = best(5, [&] {
      for (int i = 0; i < kCount; ++i) pool.free(pool.allocate(bytes, nullptr), nullptr);
    });
    bench.add("pool hit, allocate + free, " + std::to_string(bytes / 1024) + " KiB",
              time / kCount * 1000, "ns");
  }
  DeviceState& device = *bench.device;
  double time = best(5, [&] {
    for (int i = 0; i < 50; ++i) {
      CUdeviceptr address = 0;
      TD_CALL(device, cuMemAlloc, &address, std::size_t{4} << 20);
      TD_CALL(device, cuMemFree, address);
    }
  });
  bench.add("cuMemAlloc + cuMemFree, 4096 KiB", time / 50 * 1000, "ns");
}

void small_copies(Bench& bench, const driver::StreamState& stream, CUdeviceptr memory, char* host) {
  DeviceState& device = *bench.device;
  for (std::size_t bytes :
       {std::size_t{8}, std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20}) {
    constexpr int kCount = 200;
    std::string size =
        bytes < 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes / 1024) + " KiB";
    auto each = [&](const std::string& name, const std::function<void()>& work) {
      double time = best(5, [&] {
        for (int i = 0; i < kCount; ++i) work();
        TD_CALL(device, cuCtxSynchronize);
      });
      bench.add(name + ", " + size, time / kCount, "us");
    };
    each("upload", [&] { driver::upload(stream, memory, host, bytes); });
    each("upload + wait", [&] {
      driver::upload(stream, memory, host, bytes);
      TD_CALL(device, cuStreamSynchronize, nullptr);
    });
    each("cuMemcpyHtoD", [&] { TD_CALL(device, cuMemcpyHtoD, memory, host, bytes); });
    each("download", [&] { driver::download(stream, host, memory, bytes); });
    each("cuMemcpyDtoH", [&] { TD_CALL(device, cuMemcpyDtoH, host, memory, bytes); });
  }
}

void large_copies(Bench& bench, const driver::StreamState& stream, CUdeviceptr memory, char* host) {
  DeviceState& device = *bench.device;
  const std::size_t bytes = bench.bytes;
  driver::PinnedMemory pinned(bench.device, bytes);
  std::memset(pinned.data(), 1, bytes);
  std::string size = std::to_string(bytes >> 20) + " MiB";
  auto rate = [&](const std::string& name, const std::function<void()>& work) {
    double time = best(4, [&] {
      work();
      TD_CALL(device, cuCtxSynchronize);
    });
    bench.add(name + ", " + size, static_cast<double>(bytes) / time / 1e3, "GB/s");
  };
  rate("upload, pageable", [&] { driver::upload(stream, memory, host, bytes); });
  rate("cuMemcpyHtoD, pageable", [&] { TD_CALL(device, cuMemcpyHtoD, memory, host, bytes); });
  rate("cuMemcpyHtoD, pinned",
       [&] { TD_CALL(device, cuMemcpyHtoD, memory, pinned.data(), bytes); });
  rate("download, pageable", [&] { driver::download(stream, host, memory, bytes); });
  rate("download into new memory", [&] {
    std::unique_ptr<char[]> fresh(
        new char[bytes]);  // untouched pages, as a new NumPy array has them
    driver::download(stream, fresh.get(), memory, bytes);
  });
  rate("cuMemcpyDtoH, pageable", [&] { TD_CALL(device, cuMemcpyDtoH, host, memory, bytes); });
  rate("cuMemcpyDtoH, pinned",
       [&] { TD_CALL(device, cuMemcpyDtoH, pinned.data(), memory, bytes); });
}

void copies(Bench& bench) {
  driver::StreamState stream(bench.device, nullptr, false);
  driver::Memory memory(bench.device, bench.bytes, nullptr);
  std::vector<char> host(bench.bytes, 1);
  small_copies(bench, stream, memory.address(), host.data());
  large_copies(bench, stream, memory.address(), host.data());
}

void print(const Bench& bench, bool json) {
  Device device(bench.device);
  if (!json) {
    std::printf("%s: %s, %s\n", device.name().c_str(), device.description().c_str(),
                device.evidence().c_str());
    for (const Figure& f : bench.figures)
      std::printf("  %-52s %10.3f %s\n", f.name.c_str(), f.value, f.unit);
    return;
  }
  std::printf(
      "{\n  \"program\": \"bench_driver\",\n  \"device\": \"%s\",\n  \"description\": \"%s\",\n",
      device.name().c_str(), device.description().c_str());
  std::printf(
      "  \"evidence\": \"%s\",\n  \"driver_file\": \"%s\",\n  \"driver_version\": %d,\n  "
      "\"figures\": [\n",
      device.evidence().c_str(), bench.device->provider().file.c_str(),
      bench.device->provider().driver_version);
  for (std::size_t i = 0; i < bench.figures.size(); ++i) {
    const Figure& f = bench.figures[i];
    std::printf("    {\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}%s\n", f.name.c_str(),
                f.value, f.unit, i + 1 < bench.figures.size() ? "," : "");
  }
  std::printf("  ]\n}\n");
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--json")
      options.json = true;
    else if (word == "--device" && i + 1 < argc)
      options.device = argv[++i];
    else if (word == "--mib" && i + 1 < argc)
      options.mib = std::max(1l, std::atol(argv[++i]));
    else
      throw ValueError("usage: bench_driver [--device auto|cuda[:N]|soft[:N]] [--mib N] [--json]");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef TD_BENCH_COMPILER
  setenv("TREADLE_CC", TD_BENCH_COMPILER, 0);
#endif
  try {
    Options options = parse(argc, argv);
    Device device = Device::from_name(options.device);
    device.use();
    Bench bench{device.state(), options.mib << 20, {}};
    launches(bench);
    pool(bench);
    copies(bench);
    print(bench, options.json);
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_driver: %s\n", error.what());
    return 1;
  }
  return 0;
}
