// Cases as OpenCL on PoCL's CPU device.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdexcept>

#include "case.h"

namespace bench {

namespace {

void check(cl_int result, const char* what) {
  if (result != CL_SUCCESS)
    throw std::runtime_error(std::string("OpenCL: ") + what + " gives error " +
                             std::to_string(result));
}

// The first CPU device; null when there is none.
cl_device_id find_device() {
  cl_platform_id platforms[8];
  cl_uint count = 0;
  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return nullptr;
  for (cl_uint i = 0; i < count && i < 8; ++i) {
    cl_device_id device;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS)
      return device;
  }
  return nullptr;
}

struct Device {
  cl_device_id id = find_device();
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  static const Device& get() {
    static const Device device;
    return device;
  }

 private:
  Device() {
    if (!id) return;
    cl_int result;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &result);
    check(result, "clCreateContext");
    queue = clCreateCommandQueue(context, id, 0, &result);
    check(result, "clCreateCommandQueue");
  }
};

// What is made here lives as long as the program: a benchmark makes each case once.
class OpenclRunner : public Runner {
 public:
  OpenclRunner(const Case& test, const std::string& folder) : device_(Device::get()) {
    std::string text = read_file(folder + "/" + test.name + ".cl");
    const char* source = text.c_str();
    cl_int result;
    cl_program program = clCreateProgramWithSource(device_.context, 1, &source, nullptr, &result);
    check(result, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device_.id, "-cl-mad-enable", nullptr, nullptr),
          "clBuildProgram");
    for (const Buffer& buffer : test.buffers) {
      buffers_.push_back(clCreateBuffer(device_.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                        buffer.bytes(), buffer.data(), &result));
      check(result, "clCreateBuffer");
      sizes_.push_back(buffer.bytes());
    }
    for (const Launch& launch : test.launches) prepare(program, launch);
  }
  void enqueue() override {
    for (const Prepared& launch : launches_)
      check(clEnqueueNDRangeKernel(device_.queue, launch.kernel, 3, nullptr, launch.global,
                                   launch.local, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
  }
  void wait() override { check(clFinish(device_.queue), "clFinish"); }
  Buffer read(unsigned buffer) override {
    Buffer bytes = Buffer::zeros(sizes_[buffer]);
    check(clEnqueueReadBuffer(device_.queue, buffers_[buffer], CL_TRUE, 0, bytes.bytes(),
                              bytes.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return bytes;
  }

 private:
  struct Prepared {
    cl_kernel kernel;
    std::size_t global[3], local[3];
  };
  void prepare(cl_program program, const Launch& launch) {
    cl_int result;
    Prepared prepared{clCreateKernel(program, launch.kernel.c_str(), &result), {}, {}};
    check(result, "clCreateKernel");
    const unsigned grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
    const unsigned block[] = {launch.block.x, launch.block.y, launch.block.z};
    for (int i = 0; i < 3; ++i) {
      prepared.local[i] = block[i];
      prepared.global[i] = std::size_t{grid[i]} * block[i];
    }
    for (cl_uint i = 0; i < launch.arguments.size(); ++i)
      std::visit(
          [&](auto value) {
            if constexpr (std::is_same_v<decltype(value), At>)
              result = clSetKernelArg(prepared.kernel, i, sizeof(cl_mem), &buffers_[value.buffer]);
            else
              result = clSetKernelArg(prepared.kernel, i, sizeof value, &value);
            check(result, "clSetKernelArg");
          },
          launch.arguments[i]);
    launches_.push_back(prepared);
  }

  const Device& device_;
  std::vector<cl_mem> buffers_;
  std::vector<std::size_t> sizes_;
  std::vector<Prepared> launches_;
};

}  // namespace

std::unique_ptr<Runner> on_opencl(const Case& test, const std::string& folder) {
  if (!Device::get().id) return nullptr;
  return std::make_unique<OpenclRunner>(test, folder);
}

std::string opencl_device() {
  const Device& device = Device::get();
  if (!device.id) return "";
  char name[256] = "", version[256] = "";
  clGetDeviceInfo(device.id, CL_DEVICE_NAME, sizeof name, name, nullptr);
  clGetDeviceInfo(device.id, CL_DRIVER_VERSION, sizeof version, version, nullptr);
  return std::string(name) + ", PoCL " + version;
}

}  // namespace bench
