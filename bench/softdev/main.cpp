// bench_softdev: the software device beside C++ with OpenMP and beside PoCL, in alternation.
//
//   bench_softdev FOLDER [--processor-time] [CASE …]
//                                       the cases; a line of JSON for each. With the option the
//                                       clock is the processor time of all threads: for busy
//                                       machines
//   bench_softdev --facts               launches, memory, cost against the number of threads
//   bench_softdev --first FILE KERNEL   the first launch of a kernel in this process, in ms
//
// A sample is some passes in a row, each awaited; the best of the rounds counts. Before each sample
// comes a pause: workers of OpenMP spin for a while after a region and would take a core from
// whoever is next.
#include <time.h>
#include <treadle/treadle.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>

#include "case.h"
#include "facts.h"

namespace {

using namespace bench;

bool processor_time = false;

constexpr int kRounds = 15;
constexpr double kSampleSeconds = 4e-3;
constexpr auto kPause = std::chrono::milliseconds(12);

struct Contender {
  std::string name;
  std::function<void()> pass;
  double best = INFINITY;
  int passes = 1;
};

double now() {
  timespec time{};
  clock_gettime(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& pass, int passes) {
  double start = now();
  for (int i = 0; i < passes; ++i) pass();
  return (now() - start) / passes;
}

void measure(std::vector<Contender>& contenders) {
  for (Contender& c : contenders) {
    c.pass();
    double once = seconds_of(c.pass, 1);
    c.passes = std::clamp(static_cast<int>(kSampleSeconds / once), 1, 1000);
  }
  for (int round = 0; round < kRounds; ++round)
    for (Contender& c : contenders) {
      std::this_thread::sleep_for(kPause);
      c.pass();
      c.best = std::min(c.best, seconds_of(c.pass, c.passes));
    }
}

// The largest deviation of ours from theirs, as a multiple of what is allowed.
double deviation(const Case& test, const Buffer& ours, const Buffer& theirs) {
  double worst = 0;
  if (test.kind == Case::Kind::integers) {
    // Counts of an escape-time fractal depend on the last bit of each step: a few may differ.
    std::size_t count = ours.bytes() / sizeof(int), different = 0;
    for (std::size_t i = 0; i < count; ++i) different += ours.as<int>()[i] != theirs.as<int>()[i];
    double allowed = test.name == "mandelbrot" ? 0.02 * static_cast<double>(count) : 0;
    return different == 0 ? 0 : allowed == 0 ? INFINITY : static_cast<double>(different) / allowed;
  }
  for (std::size_t i = 0; i < ours.bytes() / sizeof(float); ++i) {
    double x = ours.as<float>()[i], y = theirs.as<float>()[i];
    double d = std::abs(x - y) / (test.tolerance * (1 + std::abs(y)));
    worst = std::max(worst, std::isnan(d) ? INFINITY : d);
  }
  return worst;
}

bool check(const Case& test, Runner& runner, const char* name) {
  runner.enqueue();
  runner.wait();
  for (unsigned result : test.results) {
    double worst = deviation(test, runner.read(result), test.buffers[result]);
    if (worst <= 1) continue;
    std::fprintf(stderr, "%s: %s differs from OpenMP by %g times the tolerance\n",
                 test.name.c_str(), name, worst);
    return false;
  }
  return true;
}

bool run_case(const Case& test, const std::string& folder) {
  std::unique_ptr<Runner> software = on_software_device(test, folder);
  std::unique_ptr<Runner> opencl = on_opencl(test, folder);
  test.openmp(test.buffers);
  bool right = check(test, *software, "the software device");
  if (opencl) right = check(test, *opencl, "PoCL") && right;
  std::vector<Contender> contenders;
  auto add = [&](const char* name, std::function<void()> pass) {
    contenders.push_back({name, std::move(pass)});
  };
  auto device_pass = [](Runner& runner) {
    return [&runner] {
      runner.enqueue();
      runner.wait();
    };
  };
  add("openmp", [&] { test.openmp(test.buffers); });
  add("softdev", device_pass(*software));
  if (opencl) add("pocl", device_pass(*opencl));
  if (test.best_on_cpu) add("best_on_cpu", [&] { test.best_on_cpu(test.buffers); });
  if (test.scalar) add("one_core", [&] { test.scalar(test.buffers); });
  measure(contenders);
  std::printf("{\"case\": \"%s\", \"work\": \"%s\", \"right\": %s", test.name.c_str(),
              test.work.c_str(), right ? "true" : "false");
  for (const Contender& c : contenders) std::printf(", \"%s\": %.6g", c.name.c_str(), c.best * 1e3);
  std::printf("}\n");
  std::fflush(stdout);
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "--facts") return print_facts();
  if (words.size() == 3 && words[0] == "--first") return first_launch(words[1], words[2]);
  if (words.empty()) {
    std::fprintf(stderr, "usage: bench_softdev FOLDER [CASE …] | --facts | --first FILE KERNEL\n");
    return 2;
  }
  // The steady state: code for the launch's block size is there from the start.
  setenv("TREADLE_SOFT_SPECIAL", "always", 0);
  std::string folder = words[0];
  words.erase(words.begin());
  processor_time = std::erase(words, "--processor-time") != 0;
  std::printf("{\"pocl\": \"%s\", \"device\": \"%s\"}\n", opencl_device().c_str(),
              td::Device::current().description().c_str());
  bool right = true;
  for (const Case& test : all_cases())
    if (words.empty() || std::find(words.begin(), words.end(), test.name) != words.end())
      right = run_case(test, folder) && right;
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_softdev: %s\n", error.what());
  return 2;
}
