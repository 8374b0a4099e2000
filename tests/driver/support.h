// What all driver tests share: the device under test, images for it, and calls that must succeed.
//
// TREADLE_TEST_DEVICE=soft (default) | cuda chooses the provider. When it has no device the whole
// suite fails; with TREADLE_TEST_ALLOW_NO_GPU set it says "no NVIDIA GPU: nothing was run" and
// skips instead.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "driver/state.h"

namespace td::test {

// The provider under test. Its table counts calls (coverage.h), so tests call the driver through
// here only.
const driver::Provider& provider();
inline const driver::Api& api() { return provider().api; }

// The state of device 0, current on the calling thread.
std::shared_ptr<driver::DeviceState> device();

// CUDA C++ text -> image for the device under test. Compiled once per text.
const std::string& image_of(const std::string& source);

// A module that lives as long as the process, and one of its functions.
CUmodule module_of(const std::string& source);
CUfunction function_of(const std::string& source, const char* name);

// Device memory of one test.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator CUdeviceptr() const { return address_; }

 private:
  CUdeviceptr address_ = 0;
};

class TestStream {
 public:
  TestStream();
  ~TestStream();
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  operator CUstream() const { return stream_; }

 private:
  CUstream stream_ = nullptr;
};

// A host function that holds a stream until open() is called, at most ten seconds.
class Gate {
 public:
  ~Gate() { open(); }
  void hold(CUstream stream);
  void open() { opened_ = true; }
  bool entered() const { return entered_; }

 private:
  static void wait(void* self);
  std::atomic<bool> opened_{false}, entered_{false};
};

template <class T>
std::vector<T> read(CUdeviceptr address, std::size_t count) {
  std::vector<T> out(count);
  EXPECT_EQ(0, api().cuMemcpyDtoH(out.data(), address, count * sizeof(T)));
  return out;
}

template <class T>
void write(CUdeviceptr address, const std::vector<T>& values) {
  EXPECT_EQ(0, api().cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)));
  // From pageable memory the call may return before the data are there, and non-blocking streams
  // do not wait for them.
  EXPECT_EQ(0, api().cuStreamSynchronize(nullptr));
}

// Base of all suites: the device is current.
class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override { device(); }
};

}  // namespace td::test
