#include "support.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "compile/compile.h"
#include "coverage.h"

namespace td::test {

namespace {

bool wants_cuda() {
  const char* name = std::getenv("TREADLE_TEST_DEVICE");
  return name && std::string(name) == "cuda";
}

class Setup : public ::testing::Environment {
 public:
  void SetUp() override {
    if (provider().usable()) {
      std::printf("driver under test: %s, %s, CUDA %d\n", provider().evidence.c_str(),
                  provider().file.c_str(), provider().driver_version);
      start_counting(const_cast<driver::Provider&>(provider()).api);
      return;
    }
    if (wants_cuda() && std::getenv("TREADLE_TEST_ALLOW_NO_GPU")) {
      std::printf("no NVIDIA GPU: nothing was run (%s)\n", provider().problem.c_str());
      GTEST_SKIP();
    }
    FAIL() << "the device under test cannot be used: " << provider().problem;
  }
  void TearDown() override {
    auto& unit = *::testing::UnitTest::GetInstance();
    int all = unit.total_test_count() - unit.disabled_test_count();
    bool whole_suite = unit.test_to_run_count() == all && unit.Passed();
    if (provider().usable() && whole_suite) report_uncalled_rows();
  }
};

[[maybe_unused]] const auto* const setup = [] {
#ifdef TD_TEST_COMPILER
  setenv("TREADLE_CC", TD_TEST_COMPILER, 0);
#endif
  return ::testing::AddGlobalTestEnvironment(new Setup);
}();

}  // namespace

const driver::Provider& provider() {
  return wants_cuda() ? driver::nvidia_provider() : driver::software_provider();
}

std::shared_ptr<driver::DeviceState> device() {
  auto state = driver::DeviceState::get(provider(), 0);
  state->make_current();
  return state;
}

const std::string& image_of(const std::string& source) {
  static std::map<std::string, std::string> images;
  std::string& image = images[source];
  if (image.empty()) {
    compile::Source text;
    text.text = source;
    int capability = device()->attribute(cuda::COMPUTE_CAPABILITY_MAJOR) * 10 +
                     device()->attribute(cuda::COMPUTE_CAPABILITY_MINOR);
    image = compile::compile(text, {provider().image_format, capability}).bytes;
  }
  return image;
}

CUmodule module_of(const std::string& source) {
  // A reset of the device takes the modules with it.
  static std::map<std::pair<std::uint64_t, std::string>, CUmodule> modules;
  CUmodule& module = modules[{device()->generation(), source}];
  if (module) return module;
  std::vector<char> log(4096, 0);
  CUjit_option options[] = {cuda::JIT_ERROR_LOG_BUFFER, cuda::JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  EXPECT_EQ(0, api().cuModuleLoadDataEx(&module, image_of(source).data(), 2, options, values))
      << log.data();
  return module;
}

CUfunction function_of(const std::string& source, const char* name) {
  CUfunction function = nullptr;
  EXPECT_EQ(0, api().cuModuleGetFunction(&function, module_of(source), name)) << name;
  return function;
}

Buffer::Buffer(std::size_t bytes) { EXPECT_EQ(0, api().cuMemAlloc(&address_, bytes)); }
Buffer::~Buffer() { EXPECT_EQ(0, api().cuMemFree(address_)); }

TestStream::TestStream() {
  EXPECT_EQ(0, api().cuStreamCreateWithPriority(&stream_, cuda::STREAM_NON_BLOCKING, 0));
}
TestStream::~TestStream() {
  EXPECT_EQ(0, api().cuStreamSynchronize(stream_));
  device()->pool().retire_stream(
      stream_);  // as StreamState does: NVIDIA's driver crashes on dead streams
  EXPECT_EQ(0, api().cuStreamDestroy(stream_));
}

void Gate::hold(CUstream stream) {
  opened_ = entered_ = false;
  ASSERT_EQ(0, api().cuLaunchHostFunc(stream, &Gate::wait, this));
}

void Gate::wait(void* self) {
  Gate& gate = *static_cast<Gate*>(self);
  gate.entered_ = true;
  for (int i = 0; i < 10000 && !gate.opened_; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace td::test
