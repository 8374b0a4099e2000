// TexelArray and TexelObject over the driver API.
#include "treadle/texture.h"

#include <algorithm>

#include "base/text.h"
#include "driver/state.h"

namespace td {

namespace driver {

class TexelArrayState {
 public:
  TexelArrayState(std::shared_ptr<DeviceState> device, const CUDA_ARRAY3D_DESCRIPTOR& shape,
                  std::size_t row)
      : device_(std::move(device)), generation_(device_->generation()), shape_(shape), row_(row) {
    device_->make_current();
    check(*device_, device_->api().cuArray3DCreate(&array_, &shape_), "cuArray3DCreate",
          base::cat("an array of ", shape.Width, " x ", shape.Height, " x ", shape.Depth,
                    " texels with ", shape.NumChannels, " channels and flags ", shape.Flags));
  }
  ~TexelArrayState() {
    if (!array_ || generation_ != device_->generation()) return;
    device_->make_current();
    device_->api().cuArrayDestroy(array_);
  }
  TexelArrayState(const TexelArrayState&) = delete;
  TexelArrayState& operator=(const TexelArrayState&) = delete;

  const std::shared_ptr<DeviceState>& device() const { return device_; }
  CUarray handle() const {
    if (generation_ != device_->generation())
      fail(*device_, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED, "array of texels",
           "it was made before the device was reset; create a new one");
    return array_;
  }
  std::size_t bytes() const { return row_ * rows() * planes(); }
  // The copy of the whole image; memory is what the caller says.
  CUDA_MEMCPY3D whole(bool to_array, bool on_device, void* host, CUdeviceptr address) const {
    CUDA_MEMCPY3D copy{};
    const cuda::MemoryType memory = on_device ? cuda::MEMORYTYPE_DEVICE : cuda::MEMORYTYPE_HOST;
    copy.srcMemoryType = to_array ? memory : cuda::MEMORYTYPE_ARRAY;
    copy.dstMemoryType = to_array ? cuda::MEMORYTYPE_ARRAY : memory;
    (to_array ? copy.dstArray : copy.srcArray) = handle();
    copy.srcHost = copy.dstHost = host;
    copy.srcDevice = copy.dstDevice = address;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = row_;
    copy.srcHeight = copy.dstHeight = copy.Height = rows();
    copy.Depth = planes();
    return copy;
  }

 private:
  std::size_t rows() const { return std::max<std::size_t>(shape_.Height, 1); }
  std::size_t planes() const { return std::max<std::size_t>(shape_.Depth, 1); }
  std::shared_ptr<DeviceState> device_;
  std::uint64_t generation_;
  CUDA_ARRAY3D_DESCRIPTOR shape_;
  std::size_t row_;  // bytes
  CUarray array_ = nullptr;
};

class TexelObjectState {
 public:
  // `texture` null: a surface.
  TexelObjectState(std::shared_ptr<DeviceState> device, std::shared_ptr<TexelArrayState> array,
                   const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC* texture)
      : device_(std::move(device)),
        array_(std::move(array)),
        generation_(device_->generation()),
        surface_(!texture) {
    device_->make_current();
    if (surface_)
      TD_CALL(*device_, cuSurfObjectCreate, &object_, &resource);
    else
      TD_CALL(*device_, cuTexObjectCreate, &object_, &resource, texture, nullptr);
  }
  ~TexelObjectState() {
    if (!object_ || generation_ != device_->generation()) return;
    device_->make_current();
    surface_ ? device_->api().cuSurfObjectDestroy(object_)
             : device_->api().cuTexObjectDestroy(object_);
  }
  TexelObjectState(const TexelObjectState&) = delete;
  TexelObjectState& operator=(const TexelObjectState&) = delete;
  std::uint64_t handle() const { return object_; }

 private:
  std::shared_ptr<DeviceState> device_;
  std::shared_ptr<TexelArrayState> array_;  // kept alive
  std::uint64_t generation_;
  bool surface_;
  unsigned long long object_ = 0;
};

}  // namespace driver

namespace {

using namespace cuda;

unsigned format_of(const ChannelFormat& format) {
  const bool good_count = format.channels == 1 || format.channels == 2 || format.channels == 4;
  const bool floating = format.kind == ChannelKind::floating;
  const bool is_signed = format.kind == ChannelKind::signed_integer;
  if (good_count && format.bits == 32)
    return floating ? FORMAT_FLOAT : is_signed ? FORMAT_SIGNED_INT32 : FORMAT_UNSIGNED_INT32;
  if (good_count && format.bits == 16)
    return floating ? FORMAT_HALF : is_signed ? FORMAT_SIGNED_INT16 : FORMAT_UNSIGNED_INT16;
  if (good_count && format.bits == 8 && !floating)
    return is_signed ? FORMAT_SIGNED_INT8 : FORMAT_UNSIGNED_INT8;
  throw ValueError(base::cat("no array has texels of ", format.channels, " channels with ",
                             format.bits, " bits", floating ? " of floating point" : "",
                             "; take 1, 2 or 4 channels of 8, 16 or 32 bits (floating point: 16 "
                             "or 32)"));
}

CUDA_TEXTURE_DESC texture_of(const TextureModes& modes) {
  CUDA_TEXTURE_DESC texture{};
  for (int i = 0; i < 3; ++i) {
    if (modes.address[i] > ADDRESS_BORDER)
      throw ValueError(base::cat("address mode ", modes.address[i],
                                 " is none of 0 (wrap), 1 (clamp), 2 (mirror) and 3 (border)"));
    texture.addressMode[i] = modes.address[i];
  }
  std::copy(std::begin(modes.border), std::end(modes.border), texture.borderColor);
  texture.filterMode = modes.linear ? FILTER_LINEAR : FILTER_POINT;
  texture.maxAnisotropy = modes.max_anisotropy;
  auto flag = [](bool set, TextureFlags bit) { return set ? static_cast<unsigned>(bit) : 0u; };
  texture.flags = flag(!modes.normalized_float, TEXTURE_READ_AS_INTEGER) |
                  flag(modes.normalized_coordinates, TEXTURE_NORMALIZED_COORDINATES) |
                  flag(modes.srgb, TEXTURE_SRGB);
  return texture;
}

CUDA_RESOURCE_DESC resource_of(const TexelArray& array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_ARRAY;
  resource.res.array.hArray = array.state()->handle();
  return resource;
}

void copy_now(driver::DeviceState& device, const CUDA_MEMCPY3D& copy) {
  driver::flush_pending(device);
  device.make_current();
  Stream stream = Stream::current();
  TD_CALL(device, cuMemcpy3DAsync, &copy, static_cast<CUstream>(stream.handle()));
  if (copy.srcMemoryType == MEMORYTYPE_HOST || copy.dstMemoryType == MEMORYTYPE_HOST)
    stream.synchronize();
}

}  // namespace

TexelArray TexelArray::create(const Device& device, const ChannelFormat& format, std::size_t width,
                              std::size_t height, std::size_t depth, unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR shape{
      width, height, depth, format_of(format), static_cast<unsigned>(format.channels), flags};
  return TexelArray(std::make_shared<driver::TexelArrayState>(device.state(), shape,
                                                              width * format.texel_bytes()));
}

void TexelArray::upload(const void* host) const {
  copy_now(*state_->device(), state_->whole(true, false, const_cast<void*>(host), 0));
}
void TexelArray::download(void* host) const {
  copy_now(*state_->device(), state_->whole(false, false, host, 0));
}
void TexelArray::upload(DevicePointer from) const {
  copy_now(*state_->device(), state_->whole(true, true, nullptr, from.address));
}
void TexelArray::download(DevicePointer to) const {
  copy_now(*state_->device(), state_->whole(false, true, nullptr, to.address));
}
std::size_t TexelArray::bytes() const { return state_->bytes(); }

TexelObject TexelObject::texture(const TexelArray& array, const TextureModes& modes) {
  CUDA_RESOURCE_DESC resource = resource_of(array);
  CUDA_TEXTURE_DESC texture = texture_of(modes);
  return TexelObject(std::make_shared<driver::TexelObjectState>(array.state()->device(),
                                                                array.state(), resource, &texture));
}

TexelObject TexelObject::texture(const Device& device, DevicePointer memory, std::size_t bytes,
                                 const ChannelFormat& format, const TextureModes& modes) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_LINEAR;
  resource.res.linear = {memory.address, format_of(format), static_cast<unsigned>(format.channels),
                         bytes};
  CUDA_TEXTURE_DESC texture = texture_of(modes);
  return TexelObject(
      std::make_shared<driver::TexelObjectState>(device.state(), nullptr, resource, &texture));
}

TexelObject TexelObject::texture(const Device& device, DevicePointer memory, std::size_t width,
                                 std::size_t height, std::size_t pitch, const ChannelFormat& format,
                                 const TextureModes& modes) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = RESOURCE_PITCH2D;
  resource.res.pitch2D = {
      memory.address, format_of(format), static_cast<unsigned>(format.channels), width, height,
      pitch};
  CUDA_TEXTURE_DESC texture = texture_of(modes);
  return TexelObject(
      std::make_shared<driver::TexelObjectState>(device.state(), nullptr, resource, &texture));
}

TexelObject TexelObject::surface(const TexelArray& array) {
  CUDA_RESOURCE_DESC resource = resource_of(array);
  return TexelObject(std::make_shared<driver::TexelObjectState>(array.state()->device(),
                                                                array.state(), resource, nullptr));
}

std::uint64_t TexelObject::handle() const { return state_->handle(); }

}  // namespace td
