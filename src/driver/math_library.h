// NVIDIA's math libraries (cuBLAS, cuSOLVER, cuFFT) as tables of their functions (boundary B2):
// filled from NVIDIA's library on a GPU, opened on first use, and from functions of the same names
// on the software device.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "driver/state.h"

namespace td::driver {

struct LibraryState {
  std::string file;     // the file really loaded; "(built in)" for the software device
  std::string problem;  // why it cannot be used, with a cure; "" when it can
  bool usable() const { return problem.empty(); }
};

template <class Api>
struct MathLibrary : LibraryState {
  Api api;
};

// What opening one takes, and what the messages say.
struct LibraryFacts {
  std::vector<std::string> names;  // candidates, newest first
  std::string companion;           // as open_library's
  std::string package;             // wheel package for CUDA 13; for CUDA 12 with -cu12
  std::string what;                // "matrix products"
  std::string build_cure;          // for a build whose software device lacks it
  std::string version;             // "cuBLAS 12 or newer"
};

// Looks symbols up: context, name.
using Resolve = void* (*)(void*, const char*);
// Fills a table; the first function that is missing and must not be, or "".
using FillTable = std::function<std::string(Resolve, void*)>;

LibraryState open_math_library(const Provider& provider, const LibraryFacts& facts,
                               const FillTable& fill);

// The library for a provider's devices, opened once. Never throws.
template <class Api>
const MathLibrary<Api>& math_library(const Provider& provider,
                                     LibraryFacts (*facts)(const Provider&),
                                     std::string (*fill)(Api&, Resolve, void*)) {
  static std::mutex mutex;
  static auto& libraries = *new std::map<const Provider*, MathLibrary<Api>>;
  std::lock_guard lock(mutex);
  auto [at, fresh] = libraries.try_emplace(&provider);
  MathLibrary<Api>& library = at->second;
  if (fresh)
    static_cast<LibraryState&>(library) = open_math_library(
        provider, facts(provider),
        [&](Resolve resolve, void* context) { return fill(library.api, resolve, context); });
  return library;
}

}  // namespace td::driver
