// td::Device, td::Stream and td::Event, the calling thread's device and stream, and the text of
// errors.
#include <thread>

#include "child.h"
#include "support.h"

namespace td::test {
namespace {

class Handles : public DriverTest {
 protected:
  void SetUp() override {
    here = Device(device());
    here.use();
  }
  Device here{nullptr};
};

int flushes = 0;

TEST_F(Handles, DeviceFacts) {
  EXPECT_EQ(here.name(), provider().prefix + ":0");
  EXPECT_EQ(here.evidence(), provider().evidence);
  EXPECT_EQ(here.is_software(), provider().software);
  EXPECT_EQ(here.ordinal(), 0);
  EXPECT_FALSE(here.description().empty());
  EXPECT_GE(here.compute_capability().first, 7);
  EXPECT_EQ(here.attribute(cuda::WARP_SIZE), 32);
  EXPECT_GE(here.memory().total, here.memory().free);
  EXPECT_GT(here.memory().free, 0u);
  here.synchronize();
}

TEST_F(Handles, NamesFindTheSameDevice) {
  EXPECT_EQ(Device::from_name(here.name()), here);
  EXPECT_EQ(Device::from_name(provider().prefix), here);
  EXPECT_EQ(Device::current(), here);
  bool listed = false;
  for (const Device& each : Device::all()) listed = listed || each == here;
  EXPECT_TRUE(listed);
}

TEST_F(Handles, AnotherThreadNeedsNoSetUp) {
  std::string failure;
  std::thread([&] {
    try {
      driver::Memory memory(here.state(), 4096, nullptr);
      driver::StreamState stream(here.state(), nullptr, false);
      int value = 5, back = 0;
      driver::upload(stream, memory.address(), &value, sizeof value);
      driver::download(stream, &back, memory.address(), sizeof back);
      if (back != 5) failure = "wrong value";
      here.use();
      Stream::create(here).synchronize();
    } catch (const Error& error) {
      failure = error.what();
    }
  }).join();
  EXPECT_EQ(failure, "");
}

TEST_F(Handles, CurrentStreamIsPerThread) {
  EXPECT_EQ(Stream::current().handle(), nullptr);
  Stream mine = Stream::create(here);
  mine.use();
  EXPECT_EQ(Stream::current().handle(), mine.handle());
  void* seen = mine.handle();
  std::thread([&] {
    here.use();
    seen = Stream::current().handle();
  }).join();
  EXPECT_EQ(seen, nullptr);
  Stream::default_stream(here).use();
  EXPECT_EQ(Stream::current().handle(), nullptr);
  EXPECT_EQ(mine.device(), here);
}

TEST_F(Handles, CopiesShareTheStream) {
  Stream copy = Stream::default_stream(here);
  {
    Stream original = Stream::create(here);
    copy = original;
  }
  copy.synchronize();
  EXPECT_TRUE(copy.done());
}

TEST_F(Handles, StreamsAndEvents) {
  Stream first = Stream::create(here), second = Stream::create(here);
  Event start = Event::create(here), end = Event::create(here);
  Gate gate;
  start.record(first);
  gate.hold(static_cast<CUstream>(first.handle()));
  end.record(first);
  second.wait(end);
  EXPECT_FALSE(first.done());
  EXPECT_FALSE(end.done());
  try {
    elapsed_time(start, end);
    FAIL() << "the end has not been reached";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code, cuda::CUDA_ERROR_NOT_READY);
  }
  gate.open();
  second.synchronize();
  end.synchronize();
  EXPECT_TRUE(end.done());
  EXPECT_GE(elapsed_time(start, end), 0);
  EXPECT_THROW(elapsed_time(start, Event::create(here)), DriverError);
  EXPECT_THROW(elapsed_time(start, Event::create(here, false)), DriverError);
}

TEST_F(Handles, ExplicitStreamCallsFlushPendingWork) {
  driver::set_flush_hook([](driver::DeviceState&) { ++flushes; });
  flushes = 0;
  Stream stream = Stream::create(here);
  Event event = Event::create(here);
  here.synchronize();
  EXPECT_EQ(flushes, 1);
  stream.synchronize();
  EXPECT_EQ(flushes, 2);
  event.record(stream);
  EXPECT_EQ(flushes, 3);
  stream.wait(event);
  EXPECT_EQ(flushes, 4);
  stream.done();
  EXPECT_EQ(flushes, 5);
  stream.use();
  EXPECT_EQ(flushes, 6);
  Stream::default_stream(here).use();
  EXPECT_EQ(flushes, 7);
  driver::set_flush_hook(nullptr);
}

TEST_F(Handles, ErrorsSayWhatWhereAndTheCure) {
  try {
    driver::check(*here.state(), cuda::CUDA_ERROR_NOT_READY, "cuEventElapsedTime",
                  "the end is pending");
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_STREQ(error.what(),
                 "cuEventElapsedTime failed: CUDA_ERROR_NOT_READY (600): the work has not finished "
                 "yet; the end is "
                 "pending; synchronise first");
    EXPECT_EQ(error.name, "CUDA_ERROR_NOT_READY");
    EXPECT_EQ(error.call, "cuEventElapsedTime");
  }
  EXPECT_THROW(driver::check(*here.state(), cuda::CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc"),
               OutOfMemory);
  driver::check(*here.state(), cuda::CUDA_SUCCESS, "cuMemAlloc");
}

TEST_F(Handles, OptionalFunctionsAreNeverNull) {
#define TD_DRIVER_API(name, symbol, since, params) EXPECT_NE(api().name, nullptr) << #name;
#include "driver_api.def"
}

// Everything is still alive when static objects are destroyed: nothing crashes at exit.
TEST_F(Handles, DISABLED_AliveAtExit) {
  static auto& memory = *new driver::Memory(here.state(), 1 << 20, nullptr);
  static driver::Memory destroyed_late(here.state(), 1 << 20, nullptr);
  static driver::PinnedMemory pinned(here.state(), 1 << 20);
  static Stream stream = Stream::create(here);
  static Event event = Event::create(here);
  event.record(stream);
  driver::download(*stream.state(), pinned.data(), memory.address(), 1 << 20);
  EXPECT_NE(destroyed_late.address(), 0u);
}

TEST_F(Handles, ExitWithLiveObjects) {
  ChildResult child = run_child("Handles.DISABLED_AliveAtExit");
  EXPECT_EQ(child.status, 0) << child.output;
}

}  // namespace
}  // namespace td::test
