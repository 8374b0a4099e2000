// What may be passed for which parameter: rows, each run on the device.
#include <cstring>

#include "support.h"

namespace {

using namespace td;
using namespace td::test;

class Arguments : public LaunchTest {};

const char* const kSource = R"(
struct P { int a; float b; double c; };
extern "C" __global__ void put_bool(double* o, bool v) { o[0] = v; }
extern "C" __global__ void put_i8(double* o, signed char v) { o[0] = v; }
extern "C" __global__ void put_u8(double* o, unsigned char v) { o[0] = v; }
extern "C" __global__ void put_i32(double* o, int v) { o[0] = v; }
extern "C" __global__ void put_u32(double* o, unsigned int v) { o[0] = v; }
extern "C" __global__ void put_i64(double* o, long long v) { o[0] = v; }
extern "C" __global__ void put_u64(double* o, unsigned long long v) { o[0] = v; }
extern "C" __global__ void put_f32(double* o, float v) { o[0] = v; }
extern "C" __global__ void put_f64(double* o, double v) { o[0] = v; }
extern "C" __global__ void put_struct(double* o, P v, int after) { o[0] = v.a + v.b + v.c + after; }
extern "C" __global__ void put_p(double* o, P v) { o[0] = v.a; }
extern "C" __global__ void put_four(double* o, const int4 v) { o[0] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w; }
extern "C" __global__ void first(double* o, const float* p) { o[0] = p ? p[0] : -1; }
extern "C" __global__ void fifth(double* o, const float* p) { o[0] = p[4]; }
extern "C" __global__ void write_first(float* p) { p[0] = 5; }
extern "C" __global__ void any_pointer(double* o, const void* p) { o[0] = *(const unsigned char*)p; }
)";

const Module& module() {
  static const Module& kernels = *new Module(kSource);
  return kernels;
}

// The kernel's result for one argument.
double run(const char* name, const KernelArg& argument) {
  Array out = full({1}, -99.0, td::float64);
  module().get(name).launch({}, out, argument);
  return on_host<double>(out)[0];
}

template <class T>
KernelArg typed(T value) {
  TypedScalar out{dtype_of<T>(), {}};
  std::memcpy(out.bytes, &value, sizeof value);
  return out;
}

constexpr std::int64_t kInt = 1;

struct Accepted {
  const char* kernel;
  KernelArg given;
  double stored;
};

TEST_F(Arguments, ConvertedWhenExact) {
  const Accepted rows[] = {
      {"put_bool", Scalar(true), 1},
      {"put_bool", Scalar(kInt * 0), 0},
      {"put_i8", Scalar(kInt * -128), -128},
      {"put_u8", Scalar(kInt * 255), 255},
      {"put_u8", Scalar(true), 1},
      {"put_i32", Scalar(kInt * -5), -5},
      {"put_i32", Scalar(std::uint64_t{5}), 5},
      {"put_i32", typed(std::int64_t{7}), 7},
      {"put_i32", typed(std::uint8_t{200}), 200},
      {"put_i32", typed(std::int32_t{-200}), -200},
      {"put_u32", Scalar(kInt * 4294967295), 4294967295.0},
      {"put_i64", Scalar(kInt << 53), 9007199254740992.0},
      {"put_u64", Scalar(std::uint64_t{1} << 63), 9223372036854775808.0},
      {"put_f32", Scalar(2.0), 2.0},
      {"put_f32", Scalar(0.1), static_cast<double>(0.1f)},
      {"put_f32", Scalar(kInt * 7), 7},
      {"put_f32", typed(2.5f), 2.5},
      {"put_f32", typed(2.5), 2.5},
      {"put_f64", Scalar(0.1), 0.1},
      {"put_f64", Scalar(kInt * 7), 7},
      {"put_f64", typed(0.1f), static_cast<double>(0.1f)},
      {"first", Scalar(kInt * 0), -1},
      {"first", DevicePointer{0}, -1},
  };
  for (const Accepted& row : rows) EXPECT_EQ(run(row.kernel, row.given), row.stored) << row.kernel;
}

struct Refused {
  const char* kernel;
  KernelArg given;
  const char* words;  // after "kernel 'name': parameter 1 "
};

template <class Exception>
void check_refused(std::initializer_list<Refused> rows) {
  for (const Refused& row : rows) {
    std::string message = message_of<Exception>([&] { run(row.kernel, row.given); });
    EXPECT_EQ(message, std::string("kernel '") + row.kernel + "': parameter 1 " + row.words);
  }
}

TEST_F(Arguments, WrongKindsAreRefused) {
  Array three = on_device(std::vector<float>{1, 2, 3});
  Array one = on_device(std::vector<double>{1});
  check_refused<TypeError>({
      {"put_i32", Scalar(2.5),
       "'v' (int) takes an integer, got 2.5 (float); pass int(x), or declare the parameter float"},
      {"put_i32", Scalar(2.0),
       "'v' (int) takes an integer, got 2 (float); pass int(x), or declare the parameter float"},
      {"put_i32", typed(2.0),
       "'v' (int) takes an integer, got 2 (float64); pass int(x), or declare the parameter float"},
      {"put_bool", Scalar(1.0),
       "'v' (bool) takes a bool, got 1 (float); pass int(x), or declare the parameter float"},
      {"put_f32", Scalar(std::complex<double>(1, 2)),
       "'v' (float) takes a number, got 1+2j (complex); pass x.real, or declare the parameter "
       "complex"},
      {"put_f32", Scalar(kInt * 16777217),
       "'v' (float) takes float32, which cannot hold 16777217 (int) exactly; convert it yourself: "
       "float32(x)"},
      {"put_f32", typed(0.1),
       "'v' (float) takes float32, which cannot hold 0.1 (float64) exactly; convert it yourself: "
       "float32(x)"},
      {"put_i32", three,
       "'v' (int) takes an integer, got an array of float32 of shape (3,); pass one number"},
      {"put_f64", one,
       "'v' (double) takes a number, got an array of float64 of shape (1,); pass its value: "
       "x.item()"},
      {"put_i32", DevicePointer{16},
       "'v' (int) takes an integer, got a device pointer; pass its address as a number"},
      {"put_i32", Bytes{{1, 2, 3, 4}},
       "'v' (int) takes an integer, got 4 raw bytes; raw bytes are for structs passed by value"},
      {"first", Scalar(kInt * 4096),
       "'p' (const float*) takes an array or a pointer, got 4096 (int); pass the array itself, "
       "wrap an address in "
       "DevicePointer, or pass 0 for null"},
      {"first", one,
       "'p' (const float*) takes an array of float32, got an array of float64 of shape (1,); "
       "convert it with "
       ".astype('float32')"},
      {"put_four", Bytes{std::vector<unsigned char>(12)},
       "'v' (const int4) has 16 bytes, got raw bytes (12 bytes)"},
      {"put_p", Scalar(2.0), "'v' (P) takes a struct, got 2 (float); pass its 16 bytes"},
  });
}

TEST_F(Arguments, ValuesOutOfRangeAreRefused) {
  check_refused<ValueError>({
      {"put_i32", Scalar(kInt << 31),
       "'v' (int) got 2147483648 (int), which is out of range: it takes -2147483648 to 2147483647; "
       "check the value, or "
       "declare a wider type in the kernel"},
      {"put_u8", Scalar(kInt * -1),
       "'v' (unsigned char) got -1 (int), which is out of range: it takes 0 to 255; check the "
       "value, or declare a "
       "wider type in the kernel"},
      {"put_u32", typed(std::int64_t{-1}),
       "'v' (unsigned int) got -1 (int64), which is out of range: it takes 0 to 4294967295; check "
       "the value, or declare a "
       "wider type in the kernel"},
      {"put_f32", Scalar(1e39),
       "'v' (float) got 1e+39 (float), which is out of range of float32; check the value, or "
       "declare a wider type in "
       "the kernel"},
  });
}

TEST_F(Arguments, StructsArriveAligned) {
  struct {
    int a = 1;
    float b = 2.5f;
    double c = 100;
  } value;
  Bytes bytes{std::vector<unsigned char>(sizeof value)};
  std::memcpy(bytes.data.data(), &value, sizeof value);
  Array out = zeros({1}, td::float64);
  module().get("put_struct").launch({}, out, bytes, 1000);
  EXPECT_EQ(on_host<double>(out)[0], 1103.5);
  int four[] = {1, 2, 3, 4};
  Bytes vector{std::vector<unsigned char>(sizeof four)};
  std::memcpy(vector.data.data(), four, sizeof four);
  EXPECT_EQ(run("put_four", vector), 4321);
}

TEST_F(Arguments, ViewsThatAreNotContiguousNeedConsent) {
  std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Array x = on_device(values, {2, 5});
  Array view = x.index({Ellipsis{}, Slice{{}, 4, {}}});
  std::string message = message_of<ValueError>([&] { run("fifth", view); });
  EXPECT_EQ(message,
            "kernel 'fifth': parameter 1 'p' (const float*) takes contiguous data, got a view of "
            "shape (2, 4) with "
            "strides (20, 4) bytes; pass td.ascontiguousarray(x), or strided=True for its plain "
            "data pointer");
  EXPECT_THROW(run("fifth", x.T()), ValueError);
  EXPECT_EQ(run("fifth", view.copy('C')), 5.0);  // logical element 4
  Array out = zeros({1}, td::float64);
  const KernelArg list[] = {out, view};
  module().get("fifth").launch({}, list, true);
  EXPECT_EQ(on_host<double>(out)[0], 4.0);  // pointer semantics, asked for
  // A view that is contiguous by itself needs none.
  EXPECT_EQ(run("first", x.index({std::int64_t{1}})), 5.0);
}

TEST_F(Arguments, ReadOnlyArraysMayNotBeWritten) {
  Array wide = on_device(std::vector<float>{3}).broadcast_to({4});
  EXPECT_THROW(run("first", wide), ValueError);  // stride 0
  Array same = on_device(std::vector<float>{3}).broadcast_to({1});
  EXPECT_EQ(run("first", same), 3.0);
  std::string message =
      message_of<ValueError>([&] { module().get("write_first").launch({}, same); });
  EXPECT_NE(message.find("read-only"), std::string::npos) << message;
}

TEST_F(Arguments, VoidPointersTakeAnything) {
  EXPECT_EQ(run("any_pointer", on_device(std::vector<std::uint8_t>{77})), 77);
  EXPECT_EQ(run("any_pointer", on_device(std::vector<std::int32_t>{5})), 5);
  Array bytes = on_device(std::vector<std::uint8_t>{78});
  EXPECT_EQ(run("any_pointer", DevicePointer{bytes.data()}), 78);
}

TEST_F(Arguments, CountsAreChecked) {
  Kernel kernel = module().get("put_i32");
  Array out = zeros({1}, td::float64);
  EXPECT_EQ(message_of<TypeError>([&] { kernel.launch({}, out); }),
            "kernel 'put_i32' takes 2 arguments (double* o, int v), got 1");
  EXPECT_THROW(kernel.launch({}, out, 1, 2), TypeError);
  EXPECT_THROW(kernel.launch({}, std::span<const KernelArg>()), TypeError);
  LaunchConfig config;
  config.where = "user.py:12";
  EXPECT_EQ(message_of<TypeError>([&] { kernel.launch(config, out); }).substr(0, 28),
            "user.py:12: kernel 'put_i32'");
}

TEST_F(Arguments, ManyParametersAreFine) {
  std::string source = "extern \"C\" __global__ void sum(double* o";
  std::string body = "o[0] = 0";
  for (int i = 0; i < 100; ++i) {
    source += ", int a" + std::to_string(i);
    body += " + a" + std::to_string(i);
  }
  Kernel kernel(source + ") { " + body + "; }", "sum");
  Array out = zeros({1}, td::float64);
  std::vector<KernelArg> args{out};
  for (int i = 0; i < 100; ++i) args.emplace_back(Scalar(std::int64_t{i * i}));
  kernel.launch({}, args);
  EXPECT_EQ(on_host<double>(out)[0], 328350);
}

TEST_F(Arguments, OnAnotherDeviceIsSaid) {
  std::vector<Device> devices = Device::all();
  Device here = Device::current();
  for (const Device& other : devices) {
    if (other == here) continue;
    other.use();
    Array there = on_device(std::vector<float>{1});
    here.use();
    std::string message = message_of<ValueError>([&] { run("first", there); });
    EXPECT_NE(message.find("got an array on " + other.name()), std::string::npos) << message;
    return;
  }
  GTEST_SKIP() << "one device only; TREADLE_SOFT_DEVICES=2 gives two";
}

}  // namespace
