// What a case of the benchmark is: data, launches, and the same work as C++ with OpenMP. The
// kernels lie in kernels/<name>.cu and kernels/<name>.cl and are launched alike on both devices.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace bench {

// Bytes at a cache line's start, as allocators of devices give them.
class Buffer {
 public:
  template <class T>
  static Buffer of(const std::vector<T>& values) {
    Buffer buffer(values.size() * sizeof(T));
    std::memcpy(buffer.data(), values.data(), buffer.bytes());
    return buffer;
  }
  static Buffer zeros(std::size_t bytes) {
    Buffer buffer(bytes);
    std::memset(buffer.data(), 0, bytes);
    return buffer;
  }
  Buffer(const Buffer& other) : Buffer(other.bytes_) { std::memcpy(data(), other.data(), bytes_); }
  Buffer(Buffer&&) = default;
  void* data() const { return memory_.get(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  explicit Buffer(std::size_t bytes)
      : memory_(std::aligned_alloc(256, (bytes + 255) / 256 * 256), &std::free), bytes_(bytes) {}
  std::unique_ptr<void, void (*)(void*)> memory_;
  std::size_t bytes_;
};

struct Size {
  unsigned x = 1, y = 1, z = 1;
};

// A buffer of the case, by its index.
struct At {
  unsigned buffer;
};
using Argument = std::variant<At, int, float>;

struct Launch {
  std::string kernel;
  Size grid, block;
  std::vector<Argument> arguments;
};

using Buffers = std::vector<Buffer>;

struct Case {
  std::string name;
  std::string work;  // for people: what a pass does, and how much of it
  Buffers buffers;
  std::vector<unsigned> results;  // buffers that are compared
  enum class Kind { integers, floats } kind = Kind::floats;
  double tolerance = 0;  // |ours - theirs| <= tolerance * (1 + |theirs|)
  std::vector<Launch> launches;
  void (*openmp)(const Buffers& buffers) = nullptr;
  // Another algorithm for the same result that suits a CPU better; shown, not rated.
  void (*best_on_cpu)(const Buffers& buffers) = nullptr;
  void (*scalar)(const Buffers& buffers) = nullptr;  // one core, no vectors
};

std::vector<Case> all_cases();

// One device that runs a case: the software device or an OpenCL device.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void enqueue() = 0;  // all launches of the case
  virtual void wait() = 0;
  virtual Buffer read(unsigned buffer) = 0;
};
std::unique_ptr<Runner> on_software_device(const Case& test, const std::string& folder);
// Null where this program was built without OpenCL or there is no device.
std::unique_ptr<Runner> on_opencl(const Case& test, const std::string& folder);
std::string opencl_device();

std::string read_file(const std::string& path);

}  // namespace bench
