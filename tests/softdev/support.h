// What the suites of the software device share: an image, a current context that each test leaves
// fresh, shorthands.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/cuda_abi.h"
#include "softdev/api/soft_api.h"

namespace td::softdev::test {

using namespace td::cuda;

#define OK(call) ASSERT_EQ(td_soft_##call, CUDA_SUCCESS) << td_soft_last_fault()

// An image for the fake compiler.
std::string image_of(const std::string& what);

template <class T>
void append_param(std::vector<void*>& list, T& value) {
  list.push_back(&value);
}

class Soft : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  CUfunction kernel(const char* name);
  CUdeviceptr alloc(std::size_t bytes);
  template <class T>
  std::vector<T> download(CUdeviceptr from, std::size_t count) {
    std::vector<T> out(count);
    EXPECT_EQ(td_soft_cuMemcpyDtoH_v2(out.data(), from, count * sizeof(T)), CUDA_SUCCESS);
    return out;
  }
  // Launches with x-only shapes on a stream; parameters by value.
  template <class... Args>
  CUresult launch(const char* name, unsigned grid, unsigned block, CUstream stream, Args... args) {
    std::vector<void*> params;
    (append_param(params, args), ...);
    return td_soft_cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, 0, stream, params.data(),
                                  nullptr);
  }
  // Resets the device after a fault and makes module and context anew.
  void recover();

  CUmodule module_ = nullptr;
  CUcontext context_ = nullptr;
};

}  // namespace td::softdev::test
