#include "facts.h"

#include <sys/resource.h>
#include <treadle/treadle.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>

#include "case.h"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double best_of(int rounds, const std::function<void()>& work) {
  double best = INFINITY;
  for (int i = 0; i < rounds; ++i) {
    auto start = Clock::now();
    work();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

void print(const char* what, double value, const char* unit) {
  std::printf("{\"what\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n", what, value, unit);
  std::fflush(stdout);
}

void empty_launches(const td::Device& device) {
  td::Kernel empty("extern \"C\" __global__ void empty() {}", "empty");
  td::LaunchConfig config;
  std::span<const td::KernelArg> none;
  empty.launch(config, none);
  device.synchronize();
  constexpr int calls = 1000;
  double queued = INFINITY, awaited = INFINITY;
  for (int round = 0; round < 30; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    auto start = Clock::now();
    for (int i = 0; i < calls; ++i) empty.launch(config, none);
    queued = std::min(queued, seconds_since(start) / calls);
    device.synchronize();
    start = Clock::now();
    for (int i = 0; i < calls; ++i) {
      empty.launch(config, none);
      device.synchronize();
    }
    awaited = std::min(awaited, seconds_since(start) / calls);
  }
  print("empty launch of one block, C++", queued * 1e6, "us");
  print("empty launch of one block and its end, C++", awaited * 1e6, "us");
}

constexpr const char* kTouch = R"(
extern "C" __global__ void touch(float* x, unsigned mask) {
  unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x;
  x[i & mask] = threadIdx.x;
}
extern "C" __global__ void touch_shared(float* x, unsigned mask) {
  __shared__ float part[256];
  part[threadIdx.x] = blockIdx.x;
  __syncthreads();
  x[(blockIdx.x * 256u + threadIdx.x) & mask] = part[255 - threadIdx.x];
})";

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The process before the first launch of a grid holds the arrays; what comes on top is the
// device's.
void memory_of_a_grid(const td::Device& device) {
  constexpr unsigned mask = (1u << 16) - 1;
  td::Array x = td::zeros({mask + 1}, td::float32);
  x.flush();
  td::Module module(kTouch);
  double most = 0;
  for (const char* name : {"touch", "touch_shared"}) {
    td::Kernel kernel = module.get(name);
    kernel.launch({.grid = {1}, .block = {256}}, x, mask);
    device.synchronize();
    double before = peak_megabytes();
    kernel.launch({.grid = {1000000}, .block = {256}}, x, mask);
    device.synchronize();
    most = std::max(most, peak_megabytes() - before);
  }
  print("memory beyond the arrays, grid of 1e6 blocks", most, "MiB");
}

void cost_of_threads(const td::Device& device) {
  constexpr unsigned mask = (1u << 16) - 1;
  td::Array x = td::zeros({mask + 1}, td::float32);
  td::Kernel kernel(kTouch, "touch");
  for (double threads : {1e4, 1e5, 1e6, 1e7, 1e8, 1e9}) {
    auto blocks = static_cast<std::uint32_t>(std::ceil(threads / 256));
    auto pass = [&] {
      kernel.launch({.grid = {blocks}, .block = {256}}, x, mask);
      device.synchronize();
    };
    pass();
    double seconds = best_of(threads > 1e8 ? 2 : threads > 1e6 ? 5 : 100, pass);
    char what[80];
    std::snprintf(what, sizeof what, "cost of %.0e threads", threads);
    print(what, seconds / threads * 1e9, "ns/thread");
  }
}

}  // namespace

int print_facts() {
  td::Device device = td::Device::current();
  empty_launches(device);
  memory_of_a_grid(device);
  cost_of_threads(device);
  return 0;
}

int first_launch(const std::string& file, const std::string& kernel) {
  td::Device device = td::Device::current();
  td::Array x = td::ones({4096}, td::float32);
  x.flush();
  device.synchronize();
  std::string text = read_file(file);
  auto start = Clock::now();
  td::Kernel(text, kernel).launch({.grid = {1}, .block = {32}}, x, 4096);
  device.synchronize();
  print("first launch", seconds_since(start) * 1e3, "ms");
  return 0;
}

}  // namespace bench
