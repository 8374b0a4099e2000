// What the launch tests share: host vectors to arrays and back, and the device that the tests run
// on.
#pragma once

#include <cstring>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "treadle/treadle.h"

namespace td::test {

// False where the suite may be skipped: no device, and TREADLE_TEST_ALLOW_NO_GPU set.
inline bool device_here() {
  try {
    Device::current();
    return true;
  } catch (const Error& error) {
    if (!std::getenv("TREADLE_TEST_ALLOW_NO_GPU")) throw;
    static bool said = (std::printf("no NVIDIA GPU: nothing was run (%s)\n", error.what()), true);
    return !said;
  }
}

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_here()) GTEST_SKIP();
  }
};

template <class T>
Array on_device(const std::vector<T>& values, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  DType dtype = dtype_of<T>();
  Strides strides(shape.size());
  std::int64_t step = static_cast<std::int64_t>(sizeof(T));
  for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) strides[i] = step;
  return from_host(values.data(), shape, strides, dtype, true);
}

template <class T>
std::vector<T> on_host(const Array& array) {
  std::vector<T> out(static_cast<std::size_t>(array.size()));
  Strides strides(array.shape().size());
  std::int64_t step = static_cast<std::int64_t>(sizeof(T));
  for (std::size_t i = strides.size(); i-- > 0; step *= array.shape()[i]) strides[i] = step;
  to_host(array, out.data(), strides);
  return out;
}

// The message of the exception that `run` throws, which must be an `Expected`; "" and a failure
// otherwise.
template <class Expected, class Run>
std::string message_of(Run run) {
  try {
    run();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another class of exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace td::test
