// Texture fetches and surface accesses: CUDA's overloads over the three functions of the software
// device that know what lies behind a handle (src/softdev/simt/kernel_abi.h). Operands that a form
// does not have are zero constants, which cost nothing.
#pragma once
#pragma clang system_header

struct __td_texel {
  unsigned x, y, z, w;
};

extern "C" {
// form: TextureOp of kernel_abi.h | 16 when a level is given | component << 8.
__TD_C_FN __attribute__((pure, nothrow)) __td_texel __td_rt_texture(unsigned form,
                                                                    cudaTextureObject_t texture,
                                                                    float x, float y, float z,
                                                                    float level, int layer);
// form: bytes of the access | cudaSurfaceBoundaryMode << 8. x counts bytes.
__TD_C_FN __attribute__((nothrow)) __td_texel __td_rt_surface_read(unsigned form,
                                                                   cudaSurfaceObject_t surface,
                                                                   int x, int y, int plane);
__TD_C_FN __attribute__((nothrow)) void __td_rt_surface_write(unsigned form,
                                                              cudaSurfaceObject_t surface, int x,
                                                              int y, int plane, unsigned a,
                                                              unsigned b, unsigned c, unsigned d);
}

// ---- types of texels: 8-, 16- and 32-bit integers and float, one, two or four of them
template <class T>
struct __td_texel_as {};
#define TD_TEXEL(T, ...)                                 \
  template <>                                            \
  struct __td_texel_as<T> {                              \
    typedef T type;                                      \
    __TD_FN T of(__td_texel t) { return {__VA_ARGS__}; } \
  };
#define TD_TEXELS(name, T, to)        \
  TD_TEXEL(T, to(t.x))                \
  TD_TEXEL(name##1, to(t.x))          \
  TD_TEXEL(name##2, to(t.x), to(t.y)) \
  TD_TEXEL(name##4, to(t.x), to(t.y), to(t.z), to(t.w))
TD_TEXEL(char, (char)t.x)
TD_TEXELS(char, signed char, (signed char))
TD_TEXELS(uchar, unsigned char, (unsigned char))
TD_TEXELS(short, short, (short))
TD_TEXELS(ushort, unsigned short, (unsigned short))
TD_TEXELS(int, int, (int))
TD_TEXELS(uint, unsigned, (unsigned))
TD_TEXELS(float, float, __uint_as_float)
#undef TD_TEXELS
#undef TD_TEXEL

// ---- fetches
// Where a direction meets the cube: the face by the largest component (z before y before x), and
// the place on it.
struct __td_cube_place {
  float s, t, face;
};
__TD_FN __td_cube_place __td_on_cube(float x, float y, float z) {
  const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
  const bool on_z = az >= ax && az >= ay, on_y = !on_z && ay >= ax;
  const float size = on_z ? az : on_y ? ay : ax;
  const float s = on_z ? (z >= 0 ? x : -x) : on_y ? x : x >= 0 ? -z : z;
  const float t = on_y ? (y >= 0 ? z : -z) : -y;
  const float half = 0.5f / size;
  const float face = on_z     ? (z >= 0 ? 4.0f : 5.0f)
                     : on_y   ? (y >= 0 ? 2.0f : 3.0f)
                     : x >= 0 ? 0.0f
                              : 1.0f;
  return {size > 0 ? s * half + 0.5f : 0.5f, size > 0 ? t * half + 0.5f : 0.5f, face};
}

// The level at which a step along the longer of two gradients is one texel.
__TD_FN float __td_level(float ax, float ay, float az, float bx, float by, float bz) {
  const float a = ax * ax + ay * ay + az * az, b = bx * bx + by * by + bz * bz;
  return 0.5f * log2f(a > b ? a : b);
}
__TD_FN float __td_level_2d(cudaTextureObject_t texture, float2 a, float2 b) {
  const __td_texel size = __td_rt_texture(9, texture, 0, 0, 0, 0, 0);
  return __td_level(a.x * size.x, a.y * size.y, 0, b.x * size.x, b.y * size.y, 0);
}
__TD_FN float __td_level_3d(cudaTextureObject_t texture, float4 a, float4 b) {
  const __td_texel size = __td_rt_texture(9, texture, 0, 0, 0, 0, 0);
  return __td_level(a.x * size.x, a.y * size.y, a.z * size.z, b.x * size.x, b.y * size.y,
                    b.z * size.z);
}
// A face spans two units of a direction whose largest component is one.
__TD_FN float __td_level_cube(cudaTextureObject_t texture, float x, float y, float z, float4 a,
                              float4 b) {
  const __td_texel size = __td_rt_texture(9, texture, 0, 0, 0, 0, 0);
  const float largest = fmaxf(fmaxf(fabsf(x), fabsf(y)), fabsf(z));
  const float scale = 0.5f * size.x / largest;
  return __td_level(a.x * scale, a.y * scale, a.z * scale, b.x * scale, b.y * scale, b.z * scale);
}

// T name<T>(texture, parameters), and the forms that store the result or say that the memory is
// there, which it always is.
#define TD_LIST(...) __VA_ARGS__
#define TD_FETCH(name, parameters, arguments, form, x, y, z, level, layer)                        \
  template <class T>                                                                              \
  __TD_FN typename __td_texel_as<T>::type name(cudaTextureObject_t texture, TD_LIST parameters) { \
    return __td_texel_as<T>::of(__td_rt_texture(form, texture, x, y, z, level, layer));           \
  }                                                                                               \
  template <class T>                                                                              \
  __TD_FN void name(T* result, cudaTextureObject_t texture, TD_LIST parameters) {                 \
    *result = name<T>(texture, TD_LIST arguments);                                                \
  }                                                                                               \
  template <class T>                                                                              \
  __TD_FN typename __td_texel_as<T>::type name(cudaTextureObject_t texture, TD_LIST parameters,   \
                                               bool* resident) {                                  \
    *resident = true;                                                                             \
    return name<T>(texture, TD_LIST arguments);                                                   \
  }
#define TD_FETCH_CUBE(name, parameters, arguments, form, level, layer)                        \
  template <class T>                                                                          \
  __TD_FN typename __td_texel_as<T>::type name(cudaTextureObject_t texture, float x, float y, \
                                               float z TD_LIST parameters) {                  \
    const __td_cube_place at = __td_on_cube(x, y, z);                                         \
    return __td_texel_as<T>::of(                                                              \
        __td_rt_texture(form, texture, at.s, at.t, at.face, level, layer));                   \
  }                                                                                           \
  template <class T>                                                                          \
  __TD_FN void name(T* result, cudaTextureObject_t texture, float x, float y,                 \
                    float z TD_LIST parameters) {                                             \
    *result = name<T>(texture, x, y, z TD_LIST arguments);                                    \
  }
// clang-format off
//       name              parameters                                             arguments              form    x  y  z  level                        layer
TD_FETCH(tex1Dfetch,       (int x),                                               (x),                   0,      0, 0, 0, 0,                           x)
TD_FETCH(tex1D,            (float x),                                             (x),                   1,      x, 0, 0, 0,                           0)
TD_FETCH(tex2D,            (float x, float y),                                    (x, y),                2,      x, y, 0, 0,                           0)
TD_FETCH(tex3D,            (float x, float y, float z),                           (x, y, z),             3,      x, y, z, 0,                           0)
TD_FETCH(tex1DLayered,     (float x, int layer),                                  (x, layer),            4,      x, 0, 0, 0,                           layer)
TD_FETCH(tex2DLayered,     (float x, float y, int layer),                         (x, y, layer),         5,      x, y, 0, 0,                           layer)
TD_FETCH(tex1DLod,         (float x, float level),                                (x, level),            16 | 1, x, 0, 0, level,                       0)
TD_FETCH(tex2DLod,         (float x, float y, float level),                       (x, y, level),         16 | 2, x, y, 0, level,                       0)
TD_FETCH(tex3DLod,         (float x, float y, float z, float level),              (x, y, z, level),      16 | 3, x, y, z, level,                       0)
TD_FETCH(tex1DLayeredLod,  (float x, int layer, float level),                     (x, layer, level),     16 | 4, x, 0, 0, level,                       layer)
TD_FETCH(tex2DLayeredLod,  (float x, float y, int layer, float level),            (x, y, layer, level),  16 | 5, x, y, 0, level,                       layer)
TD_FETCH(tex1DGrad,        (float x, float dx, float dy),                         (x, dx, dy),           16 | 1, x, 0, 0, __td_level_2d(texture, {dx, 0}, {dy, 0}), 0)
TD_FETCH(tex2DGrad,        (float x, float y, float2 dx, float2 dy),              (x, y, dx, dy),        16 | 2, x, y, 0, __td_level_2d(texture, dx, dy), 0)
TD_FETCH(tex3DGrad,        (float x, float y, float z, float4 dx, float4 dy),     (x, y, z, dx, dy),     16 | 3, x, y, z, __td_level_3d(texture, dx, dy), 0)
TD_FETCH(tex1DLayeredGrad, (float x, int layer, float dx, float dy),              (x, layer, dx, dy),    16 | 4, x, 0, 0, __td_level_2d(texture, {dx, 0}, {dy, 0}), layer)
TD_FETCH(tex2DLayeredGrad, (float x, float y, int layer, float2 dx, float2 dy),   (x, y, layer, dx, dy), 16 | 5, x, y, 0, __td_level_2d(texture, dx, dy), layer)
//            name                   parameters                            arguments          form    level                                       layer
TD_FETCH_CUBE(texCubemap,            (),                                   (),                6,      0,                                          0)
TD_FETCH_CUBE(texCubemapLayered,     (, int layer),                        (, layer),         7,      0,                                          layer)
TD_FETCH_CUBE(texCubemapLod,         (, float level),                      (, level),         16 | 6, level,                                      0)
TD_FETCH_CUBE(texCubemapLayeredLod,  (, int layer, float level),           (, layer, level),  16 | 7, level,                                      layer)
TD_FETCH_CUBE(texCubemapGrad,        (, float4 dx, float4 dy),             (, dx, dy),        16 | 6, __td_level_cube(texture, x, y, z, dx, dy),  0)
TD_FETCH_CUBE(texCubemapLayeredGrad, (, int layer, float4 dx, float4 dy),  (, layer, dx, dy), 16 | 7, __td_level_cube(texture, x, y, z, dx, dy),  layer)
// clang-format on
#undef TD_FETCH_CUBE
#undef TD_FETCH

__TD_FN __td_texel __td_gather(cudaTextureObject_t texture, float x, float y, int component) {
  switch (component) {
    case 0:
      return __td_rt_texture(8, texture, x, y, 0, 0, 0);
    case 1:
      return __td_rt_texture(8 | 1 << 8, texture, x, y, 0, 0, 0);
    case 2:
      return __td_rt_texture(8 | 2 << 8, texture, x, y, 0, 0, 0);
    default:
      return __td_rt_texture(8 | 3 << 8, texture, x, y, 0, 0, 0);
  }
}
template <class T>
__TD_FN typename __td_texel_as<T>::type tex2Dgather(cudaTextureObject_t texture, float x, float y,
                                                    int component = 0) {
  return __td_texel_as<T>::of(__td_gather(texture, x, y, component));
}
template <class T>
__TD_FN void tex2Dgather(T* result, cudaTextureObject_t texture, float x, float y,
                         int component = 0) {
  *result = tex2Dgather<T>(texture, x, y, component);
}
template <class T>
__TD_FN typename __td_texel_as<T>::type tex2Dgather(cudaTextureObject_t texture, float x, float y,
                                                    bool* resident, int component = 0) {
  *resident = true;
  return tex2Dgather<T>(texture, x, y, component);
}

// ---- surfaces: texels, and pairs of 64-bit integers, moved as bytes
template <class T>
struct __td_surface_element : __td_texel_as<T> {};
#define TD_ELEMENT(T)              \
  template <>                      \
  struct __td_surface_element<T> { \
    typedef T type;                \
  };
TD_ELEMENT(long long)
TD_ELEMENT(unsigned long long)
TD_ELEMENT(longlong1)
TD_ELEMENT(longlong2)
TD_ELEMENT(ulonglong1)
TD_ELEMENT(ulonglong2)
#undef TD_ELEMENT

template <class T>
__TD_FN T __td_from_words(__td_texel words) {
  if constexpr (sizeof(T) == 16)
    return __builtin_bit_cast(T, words);
  else if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, (unsigned long long)words.y << 32 | words.x);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(T, words.x);
  else if constexpr (sizeof(T) == 2)
    return __builtin_bit_cast(T, (unsigned short)words.x);
  else
    return __builtin_bit_cast(T, (unsigned char)words.x);
}
template <class T>
__TD_FN __td_texel __td_to_words(T value) {
  if constexpr (sizeof(T) == 16)
    return __builtin_bit_cast(__td_texel, value);
  else if constexpr (sizeof(T) == 8) {
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
    return {(unsigned)bits, (unsigned)(bits >> 32), 0, 0};
  } else if constexpr (sizeof(T) == 4)
    return {__builtin_bit_cast(unsigned, value), 0, 0, 0};
  else if constexpr (sizeof(T) == 2)
    return {__builtin_bit_cast(unsigned short, value), 0, 0, 0};
  else
    return {__builtin_bit_cast(unsigned char, value), 0, 0, 0};
}
template <class T>
__TD_FN T __td_surface_read(cudaSurfaceObject_t surface, int x, int y, int plane,
                            cudaSurfaceBoundaryMode mode) {
  constexpr unsigned bytes = sizeof(T);
  return __td_from_words<T>(
      mode == cudaBoundaryModeZero    ? __td_rt_surface_read(bytes, surface, x, y, plane)
      : mode == cudaBoundaryModeClamp ? __td_rt_surface_read(bytes | 1 << 8, surface, x, y, plane)
                                      : __td_rt_surface_read(bytes | 2 << 8, surface, x, y, plane));
}
template <class T>
__TD_FN void __td_surface_write(T value, cudaSurfaceObject_t surface, int x, int y, int plane,
                                cudaSurfaceBoundaryMode mode) {
  constexpr unsigned bytes = sizeof(T);
  const __td_texel w = __td_to_words(value);
  if (mode == cudaBoundaryModeZero)
    __td_rt_surface_write(bytes, surface, x, y, plane, w.x, w.y, w.z, w.w);
  else if (mode == cudaBoundaryModeClamp)
    __td_rt_surface_write(bytes | 1 << 8, surface, x, y, plane, w.x, w.y, w.z, w.w);
  else
    __td_rt_surface_write(bytes | 2 << 8, surface, x, y, plane, w.x, w.y, w.z, w.w);
}

#define TD_SURFACE(name, parameters, arguments, x, y, plane)                               \
  template <class T>                                                                       \
  __TD_FN typename __td_surface_element<T>::type name##read(                               \
      cudaSurfaceObject_t surface, TD_LIST parameters,                                     \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                               \
    return __td_surface_read<T>(surface, x, y, plane, mode);                               \
  }                                                                                        \
  template <class T>                                                                       \
  __TD_FN void name##read(T* result, cudaSurfaceObject_t surface, TD_LIST parameters,      \
                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    *result = name##read<T>(surface, TD_LIST arguments, mode);                             \
  }                                                                                        \
  template <class T>                                                                       \
  __TD_FN __td_if<(sizeof(typename __td_surface_element<T>::type) > 0), void> name##write( \
      T value, cudaSurfaceObject_t surface, TD_LIST parameters,                            \
      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                               \
    __td_surface_write(value, surface, x, y, plane, mode);                                 \
  }
TD_SURFACE(surf1D, (int x), (x), x, 0, 0)
TD_SURFACE(surf2D, (int x, int y), (x, y), x, y, 0)
TD_SURFACE(surf3D, (int x, int y, int z), (x, y, z), x, y, z)
TD_SURFACE(surf1DLayered, (int x, int layer), (x, layer), x, 0, layer)
TD_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), x, y, layer)
TD_SURFACE(surfCubemap, (int x, int y, int face), (x, y, face), x, y, face)
TD_SURFACE(surfCubemapLayered, (int x, int y, int face), (x, y, face), x, y, face)
#undef TD_SURFACE
#undef TD_LIST
