// Cases on the software device, through the public C++ API.
#include <treadle/treadle.h>

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "case.h"

namespace bench {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

namespace {

class SoftwareRunner : public Runner {
 public:
  SoftwareRunner(const Case& test, const std::string& folder)
      : module_(read_file(folder + "/" + test.name + ".cu")), device_(td::Device::current()) {
    for (const Buffer& buffer : test.buffers)
      arrays_.push_back(td::from_host(buffer.data(), {static_cast<std::int64_t>(buffer.bytes())},
                                      {1}, td::uint8, true));
    for (const Launch& launch : test.launches) {
      Prepared prepared{module_.get(launch.kernel), {}, {}};
      prepared.config.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
      prepared.config.block = {launch.block.x, launch.block.y, launch.block.z};
      for (const Argument& argument : launch.arguments)
        prepared.arguments.push_back(to_argument(argument));
      launches_.push_back(std::move(prepared));
    }
  }
  void enqueue() override {
    for (const Prepared& launch : launches_)
      launch.kernel.launch(launch.config, std::span<const td::KernelArg>(launch.arguments));
  }
  void wait() override { device_.synchronize(); }
  Buffer read(unsigned buffer) override {
    Buffer bytes = Buffer::zeros(static_cast<std::size_t>(arrays_[buffer].size()));
    td::to_host(arrays_[buffer], bytes.data(), {1});
    return bytes;
  }

 private:
  struct Prepared {
    td::Kernel kernel;
    td::LaunchConfig config;
    std::vector<td::KernelArg> arguments;
  };
  td::KernelArg to_argument(const Argument& argument) const {
    if (auto* at = std::get_if<At>(&argument)) return td::DevicePointer{arrays_[at->buffer].data()};
    auto exact = [](auto number) {
      td::TypedScalar scalar{td::dtype_of<decltype(number)>(), {}};
      std::memcpy(scalar.bytes, &number, sizeof number);
      return td::KernelArg(scalar);
    };
    if (auto* number = std::get_if<int>(&argument)) return exact(*number);
    return exact(std::get<float>(argument));
  }

  td::Module module_;
  td::Device device_;
  std::vector<td::Array> arrays_;
  std::vector<Prepared> launches_;
};

}  // namespace

std::unique_ptr<Runner> on_software_device(const Case& test, const std::string& folder) {
  return std::make_unique<SoftwareRunner>(test, folder);
}

}  // namespace bench
