// The doors of libtreadle_rt.so, the runtime of programs, into libtreadle.so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/provider.h"

// The provider of a program's devices. `treadle cc` puts an image for the software device into a
// program, so it is that one; null with the reason in `why` when it cannot be used, or when
// TREADLE_DEVICE asks for another.
extern "C" __attribute__((visibility("default"))) const td::driver::Provider* td_program_provider(
    std::string* why);

// Joins the relocatable images of a program (kept in the disk cache); false with the reason in
// `why`.
extern "C" __attribute__((visibility("default"))) bool td_program_link(
    const std::vector<std::string_view>& images, std::string* image, std::string* why);
