// Filling a Provider's table: shared by the two providers.
#pragma once

#include <string>

#include "driver/provider.h"

namespace td::driver {

// What an absent function answers.
template <class Function>
struct NotSupported;
template <class... Args>
struct NotSupported<CUresult (*)(Args...)> {
  static CUresult call(Args...) { return cuda::CUDA_ERROR_NOT_SUPPORTED; }
};

// Puts NotSupported into every slot.
void clear_api(Api& api);

// Fills the table with `resolve(symbol)`. Returns the names of required rows that are missing, ""
// when complete.
std::string fill_api(Api& api, void* (*resolve)(void* context, const char* symbol), void* context);

// cuInit, version and device count through the filled table; sets problem and the last two rungs.
// `explain_init` words a failure of cuInit.
void start_provider(Provider& provider,
                    std::string (*explain_init)(CUresult result, const std::string& file));

// Marks the rung failed, sets problem, and adds the rungs after it as not reached.
void fail_rung(Provider& provider, const char* rung, const std::string& problem);

std::string version_text(int version);  // 13000 -> "13.0"

}  // namespace td::driver
