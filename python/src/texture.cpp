// What treadle.cuda.texture is made of: arrays of texels and the objects over them.
#include "bind.h"
#include "pointer.h"
#include "treadle/texture.h"

namespace td::python {
namespace {

ChannelFormat format_of(int bits, int channels, int kind) {
  return {bits, channels, static_cast<ChannelKind>(kind)};
}

TextureModes modes_of(nb::sequence address, bool linear, bool normalized_float,
                      bool normalized_coordinates, bool srgb, nb::sequence border,
                      unsigned max_anisotropy) {
  TextureModes modes;
  for (std::size_t i = 0; i < nb::len(address) && i < 3; ++i)
    modes.address[i] = nb::cast<unsigned>(address[i]);
  for (std::size_t i = 0; i < nb::len(border) && i < 4; ++i)
    modes.border[i] = nb::cast<float>(border[i]);
  modes.linear = linear;
  modes.normalized_float = normalized_float;
  modes.normalized_coordinates = normalized_coordinates;
  modes.srgb = srgb;
  modes.max_anisotropy = max_anisotropy;
  return modes;
}

// The bytes of a NumPy array, whose layout Python has checked.
void* host_bytes(nb::handle array) {
  return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data")));
}
DevicePointer device_bytes(const Array& array) { return *to_pointer(nb::cast(array).attr("data")); }

void upload(const TexelArray& to, nb::handle from) {
  if (const Array* array = as_array(from)) {
    DevicePointer address = device_bytes(*array);
    return without_gil([&] { to.upload(address); });
  }
  void* bytes = host_bytes(from);
  without_gil([&] { to.upload(bytes); });
}

void download(const TexelArray& from, nb::handle to) {
  if (const Array* array = as_array(to)) {
    DevicePointer address = device_bytes(*array);
    return without_gil([&] { from.download(address); });
  }
  void* bytes = host_bytes(to);
  without_gil([&] { from.download(bytes); });
}

}  // namespace

std::optional<std::uint64_t> to_texel_object(nb::handle object) {
  if (nb::isinstance<TexelObject>(object)) return nb::cast<TexelObject&>(object).handle();
  return {};
}

void bind_texture(nb::module_& m) {
  nb::class_<TextureModes>(m, "TextureModes");
  m.def("_texture_modes", modes_of);
  nb::class_<TexelArray>(m, "TexelArray")
      .def("__init__",
           [](TexelArray* self, int bits, int channels, int kind, std::size_t width,
              std::size_t height, std::size_t depth, unsigned flags) {
             new (self) TexelArray(without_gil([&] {
               return TexelArray::create(Device::current(), format_of(bits, channels, kind), width,
                                         height, depth, flags);
             }));
           })
      .def_prop_ro("nbytes", &TexelArray::bytes)
      .def("_upload", upload)
      .def("_download", download);
  nb::class_<TexelObject>(m, "TexelObject")
      .def(nb::init<const TexelObject&>())
      .def_prop_ro("ptr", &TexelObject::handle, "The handle that a kernel takes.")
      .def("__int__", &TexelObject::handle);
  m.def("_texture_of_array", [](const TexelArray& array, const TextureModes& modes) {
    return without_gil([&] { return TexelObject::texture(array, modes); });
  });
  m.def("_texture_of_memory", [](const Array& array, std::size_t bytes, int bits, int channels,
                                 int kind, const TextureModes& modes) {
    DevicePointer address = device_bytes(array);
    return without_gil([&] {
      return TexelObject::texture(array.device(), address, bytes, format_of(bits, channels, kind),
                                  modes);
    });
  });
  m.def("_texture_of_rows",
        [](const Array& array, std::size_t width, std::size_t height, std::size_t pitch, int bits,
           int channels, int kind, const TextureModes& modes) {
          DevicePointer address = device_bytes(array);
          return without_gil([&] {
            return TexelObject::texture(array.device(), address, width, height, pitch,
                                        format_of(bits, channels, kind), modes);
          });
        });
  m.def("_surface_of_array", [](const TexelArray& array) {
    return without_gil([&] { return TexelObject::surface(array); });
  });
}

}  // namespace td::python
