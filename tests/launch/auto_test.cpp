// TREADLE_DEVICE=auto takes a GPU only when a kernel really ran there: here the driver library
// answers "success" to everything and runs nothing (liar_libcuda.cpp), as a stub or a broken
// installation does.
#include <gtest/gtest.h>

#include "treadle/treadle.h"

namespace {

TEST(AutomaticDevice, ADriverThatRunsNothingIsNoGpu) {
  ASSERT_STREQ(std::getenv("TREADLE_DEVICE"), "auto");
#ifdef TD_TEST_SOFTDEV
  EXPECT_EQ(td::Device::current().evidence(), "software device");
#else
  EXPECT_THROW(td::Device::current(), td::DriverError);
#endif
  // Asked for by name it is taken: whoever names a device gets that device or an error.
  EXPECT_EQ(td::Device::from_name("cuda:0").description(), "a driver that runs nothing");
}

}  // namespace
