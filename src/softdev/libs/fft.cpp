// cuFFT-shaped Fourier transforms over FFTW or our own functions, in stream order (boundary B2;
// contract in tables/fft_api.def).
//
// A plan's transforms are split among the threads of the device. FFTW's own plans are made when the
// stream reaches the first of them, since they depend on the alignment of the data, and kept.
#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/text.h"
#include "softdev/api/soft_api.h"
#include "softdev/libs/fftw.h"
#include "softdev/run/context.h"
#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::fft_abi;
namespace types = td::blas;

// FFTW makes and destroys plans one at a time.
std::mutex& planner() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

// How one side of the transforms lies in memory.
struct Side {
  int type = 0;
  long long embed[3] = {}, stride = 1, dist = 0;
  std::size_t element() const {
    return type == types::R_32F ? 4 : type == types::R_64F || type == types::C_32F ? 8 : 16;
  }
  // Elements from one point to the next along an axis.
  long long step(int axis, int rank) const {
    long long result = stride;
    for (int k = rank - 1; k > axis; --k) result *= embed[k];
    return result;
  }
};

struct Geometry {
  int rank = 0;
  long long n[3] = {}, batch = 0;
  Side in, out;
};

constexpr bool is_complex(int type) { return type == types::C_32F || type == types::C_64F; }

// FFTW's plans for one direction, alignment and number of transforms.
template <class T>
class Plans {
 public:
  explicit Plans(const Geometry& geometry) : g_(geometry) {}
  ~Plans() {
    std::lock_guard lock(planner());
    for (auto& entry : plans_) Fftw<T>::get().destroy(entry.second);
  }

  // Null: FFTW cannot make such a plan.
  // `packed`: complex transforms of one axis that lie one after the other.
  typename Fftw<T>::Plan get(long long batch, int direction, bool aligned, bool packed, void* in,
                             void* out) {
    std::lock_guard lock(planner());
    auto& plan = plans_[{batch, direction, aligned, packed, in == out}];
    if (plan) return plan;
    const auto& fftw = Fftw<T>::get();
    std::array<FftwAxis, 3> axes;
    for (int k = 0; k < g_.rank; ++k)
      axes[static_cast<std::size_t>(k)] = {g_.n[k], g_.in.step(k, g_.rank),
                                           g_.out.step(k, g_.rank)};
    FftwAxis stack{batch, g_.in.dist, g_.out.dist};
    if (packed) {
      axes[0] = {g_.n[0], 1, 1};
      stack = {batch, g_.n[0], g_.n[0]};
    }
    unsigned flags = Fftw<T>::estimate | (aligned ? 0u : Fftw<T>::unaligned);
    using C = std::complex<T>;
    if (is_complex(g_.in.type) && is_complex(g_.out.type))
      plan = fftw.plan_complex(g_.rank, axes.data(), 1, &stack, static_cast<C*>(in),
                               static_cast<C*>(out), direction, flags);
    else if (is_complex(g_.out.type))
      plan = fftw.plan_from_real(g_.rank, axes.data(), 1, &stack, static_cast<T*>(in),
                                 static_cast<C*>(out), flags);
    else
      plan = fftw.plan_to_real(g_.rank, axes.data(), 1, &stack, static_cast<C*>(in),
                               static_cast<T*>(out), flags | Fftw<T>::destroy_input);
    return plan;
  }

  void run(typename Fftw<T>::Plan plan, void* in, void* out) const {
    const auto& fftw = Fftw<T>::get();
    using C = std::complex<T>;
    if (is_complex(g_.in.type) && is_complex(g_.out.type))
      fftw.run_complex(plan, static_cast<C*>(in), static_cast<C*>(out));
    else if (is_complex(g_.out.type))
      fftw.run_from_real(plan, static_cast<T*>(in), static_cast<C*>(out));
    else
      fftw.run_to_real(plan, static_cast<C*>(in), static_cast<T*>(out));
  }

 private:
  struct Key {
    long long batch;
    int direction;
    bool aligned, packed, in_place;
    auto operator<=>(const Key&) const = default;
  };
  Geometry g_;
  std::map<Key, typename Fftw<T>::Plan> plans_;
};

// Bytes that one side touches.
bool in_memory(const Side& side, const Geometry& g, bool half, const void* data) {
  long long last = (g.batch - 1) * side.dist;
  for (int k = 0; k < g.rank; ++k)
    last += ((half && k == g.rank - 1 ? g.n[k] / 2 + 1 : g.n[k]) - 1) * side.step(k, g.rank);
  return Arena::get().holds(reinterpret_cast<std::uintptr_t>(data),
                            static_cast<std::size_t>(last + 1) * side.element());
}

template <class T>
class FftOp final : public Op {
 public:
  FftOp(Context& context, const Geometry& geometry, std::shared_ptr<Plans<T>> plans, void* in,
        void* out, int direction)
      : Op(Kind::work, context),
        g_(geometry),
        plans_(std::move(plans)),
        in_(in),
        out_(out),
        direction_(direction) {
    long long points = 1;
    for (int k = 0; k < g_.rank; ++k) points *= g_.n[k];
    constexpr long long kPoints = 1 << 14;  // worth a thread's while
    // At least a cache line of neighbours where points lie apart.
    chunk_ = std::max<long long>(g_.rank == 1 && g_.in.stride > 1 ? 8 : 1, kPoints / points);
    set_units(static_cast<std::uint64_t>((g_.batch + chunk_ - 1) / chunk_), 1);
  }
  void run(Executor*, std::uint64_t begin, std::uint64_t end) override {
    bool real_in = !is_complex(g_.in.type), real_out = !is_complex(g_.out.type);
    if (!in_memory(g_.in, g_, real_out, in_) || !in_memory(g_.out, g_, real_in, out_)) {
      context().fail(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                     "Fourier transform: an operand lies outside of device memory");
      return;
    }
    std::size_t in_step = static_cast<std::size_t>(chunk_ * g_.in.dist) * g_.in.element();
    std::size_t out_step = static_cast<std::size_t>(chunk_ * g_.out.dist) * g_.out.element();
    std::size_t bits = reinterpret_cast<std::uintptr_t>(in_) |
                       reinterpret_cast<std::uintptr_t>(out_) | in_step | out_step;
    for (std::uint64_t unit = begin; unit < end; ++unit) {
      void* in = static_cast<char*>(in_) + unit * in_step;
      void* out = static_cast<char*>(out_) + unit * out_step;
      long long count = std::min(chunk_, g_.batch - static_cast<long long>(unit) * chunk_);
      try {
        if (g_.rank == 1 && g_.in.stride > 1 && !real_in && !real_out)
          strided(static_cast<C*>(in), static_cast<C*>(out), count);
        else
          transform(count, bits % 64 == 0, false, in, out);
      } catch (const std::bad_alloc&) {
        context().fail(cuda::CUDA_ERROR_OUT_OF_MEMORY, "Fourier transform: no memory for a buffer");
      }
    }
  }

 private:
  using C = std::complex<T>;

  void transform(long long count, bool aligned, bool packed, void* in, void* out) {
    auto plan = plans_->get(count, direction_, aligned, packed, in, out);
    if (plan) return plans_->run(plan, in, out);
    context().fail(cuda::CUDA_ERROR_UNKNOWN, "Fourier transform: FFTW made no plan for it");
  }

  // Points far apart share cache lines with those of other transforms: collected, transformed, and
  // put back.
  void strided(const C* in, C* out, long long count) {
    const long long n = g_.n[0];
    std::vector<C> lines(static_cast<std::size_t>(n * count));
    for (long long i = 0; i < n; ++i)
      for (long long j = 0; j < count; ++j)
        lines[static_cast<std::size_t>(j * n + i)] = in[i * g_.in.stride + j * g_.in.dist];
    transform(count, false, true, lines.data(), lines.data());
    for (long long i = 0; i < n; ++i)
      for (long long j = 0; j < count; ++j)
        out[i * g_.out.stride + j * g_.out.dist] = lines[static_cast<std::size_t>(j * n + i)];
  }

  const Geometry g_;
  std::shared_ptr<Plans<T>> plans_;
  void *in_, *out_;
  int direction_;
  long long chunk_ = 1;
};

// One operation of a plan: `plans` from the input or the output, some elements on, to either.
template <class T>
struct Pass {
  Geometry geometry;
  std::shared_ptr<Plans<T>> plans;
  bool from_output = false, to_output = true;
  long long offset = 0;  // complex elements, of passes that change the data in place
};

bool is_packed(const Side& side, const Geometry& g, bool half) {
  long long points = 1;
  for (int k = g.rank - 1; k >= 0; --k) {
    long long length = half && k == g.rank - 1 ? g.n[k] / 2 + 1 : g.n[k];
    if (k > 0 && side.embed[k] != length) return false;
    points *= length;
  }
  return side.stride == 1 && side.dist == points;
}

// Large transforms of several axes go axis by axis, so that all threads of the device share each of
// them, and lines that are a power of two apart do not fight for one set of the cache.
template <class T>
std::vector<Pass<T>> passes_of(const Geometry& g) {
  std::vector<Pass<T>> passes;
  const bool real_in = !is_complex(g.in.type), real_out = !is_complex(g.out.type);
  const long long last = real_in || real_out ? g.n[g.rank - 1] / 2 + 1 : g.n[g.rank - 1];
  const long long rows = g.rank == 3 ? g.n[0] * g.n[1] : g.n[0];
  const long long smallest = (g.rank == 3 ? g.n[1] : rows) * last;  // points of an operation
  if (g.rank == 1 || smallest < (1 << 16) || !is_packed(g.in, g, real_out) ||
      !is_packed(g.out, g, real_in)) {
    passes.push_back({g, std::make_shared<Plans<T>>(g)});
    return passes;
  }
  Geometry lines = g;
  lines.rank = 1;
  lines.n[0] = g.n[g.rank - 1];
  lines.batch = g.batch * rows;
  lines.in.dist = real_in ? g.n[g.rank - 1] : last;
  lines.out.dist = real_out ? g.n[g.rank - 1] : last;
  Pass<T> along_last{lines, std::make_shared<Plans<T>>(lines)};
  if (!real_out) passes.push_back(along_last);
  for (int axis = g.rank - 2; axis >= 0; --axis) {
    Geometry other;
    other.rank = 1;
    other.n[0] = g.n[axis];
    other.in.type = other.out.type = real_out ? g.in.type : g.out.type;
    other.batch = axis == 0 && g.rank == 3 ? g.n[1] * last : last;
    other.in.stride = other.out.stride = other.batch;
    other.in.dist = other.out.dist = 1;
    auto plans = std::make_shared<Plans<T>>(other);
    long long step = other.batch * g.n[axis];
    for (long long at = 0; at < g.batch * rows * last; at += step)
      passes.push_back({other, plans, !real_out, !real_out, at});
  }
  if (real_out) passes.push_back(along_last);
  return passes;
}

// What a cufftHandle stands for.
struct Plan {
  Context* context = nullptr;
  CUstream stream = nullptr;
  std::shared_ptr<const std::vector<Pass<float>>> single;
  std::shared_ptr<const std::vector<Pass<double>>> twice;
};

struct PlanTable {
  PlanTable() { base::guard_across_fork(mutex, base::LockRank::handles); }
  std::mutex mutex;
  std::map<cufftHandle, Plan> plans;
  cufftHandle next = 1;
};

PlanTable& table() {
  static auto& plans = *new PlanTable;
  return plans;
}

// Calls `use` with the plan, under the table's mutex.
template <class F>
cufftResult with_plan(cufftHandle handle, const F& use) {
  std::lock_guard lock(table().mutex);
  auto found = table().plans.find(handle);
  return found == table().plans.end() ? static_cast<cufftResult>(CUFFT_INVALID_PLAN)
                                      : use(found->second);
}

bool known_pair(int in, int out) {
  constexpr int kPairs[][2] = {{types::C_32F, types::C_32F}, {types::R_32F, types::C_32F},
                               {types::C_32F, types::R_32F}, {types::C_64F, types::C_64F},
                               {types::R_64F, types::C_64F}, {types::C_64F, types::R_64F}};
  return std::any_of(std::begin(kPairs), std::end(kPairs),
                     [&](const auto& pair) { return pair[0] == in && pair[1] == out; });
}

// Without embedding, the data are contiguous and the strides do not count.
Side side_of(const Geometry& g, bool half, const long long* embed, long long stride, long long dist,
             int type) {
  Side side;
  side.type = type;
  long long points = 1;
  for (int k = 0; k < g.rank; ++k) {
    long long length = half && k == g.rank - 1 ? g.n[k] / 2 + 1 : g.n[k];
    side.embed[k] = embed ? embed[k] : length;
    points *= length;
  }
  side.stride = embed ? stride : 1;
  side.dist = embed ? dist : points;
  return side;
}

template <class T>
cufftResult enqueue(Plan& plan, const std::vector<Pass<T>>& passes, void* in, void* out,
                    int direction) {
  CUstream stream = plan.context->resolve(plan.stream);
  if (plan.context->error != 0) return CUFFT_EXEC_FAILED;
  if (!stream) return CUFFT_INVALID_VALUE;
  try {
    for (const Pass<T>& pass : passes) {
      auto place = [&](bool output) {
        return static_cast<char*>(output ? out : in) +
               pass.offset * static_cast<long long>(sizeof(std::complex<T>));
      };
      Ref<Op> op(new FftOp<T>(*plan.context, pass.geometry, pass.plans, place(pass.from_output),
                              place(pass.to_output), direction));
      Scheduler::get().enqueue(stream->queue, *op);
    }
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  }
  return CUFFT_SUCCESS;
}

}  // namespace

}  // namespace td::softdev

using namespace td::softdev;

extern "C" {

cufftResult td_soft_cufftCreate(cufftHandle* handle) {
  if (!handle) return CUFFT_INVALID_VALUE;
  Context* context = current_context();
  if (!context || context->error != 0) return CUFFT_SETUP_FAILED;
  std::lock_guard lock(table().mutex);
  *handle = table().next++;
  table().plans[*handle].context = context;
  return CUFFT_SUCCESS;
}

cufftResult td_soft_cufftDestroy(cufftHandle handle) {
  Plan plan;  // destroyed after the table's mutex was left
  return with_plan(handle, [&](Plan& kept) {
    plan = std::move(kept);
    table().plans.erase(handle);
    return CUFFT_SUCCESS;
  });
}

cufftResult td_soft_cufftSetStream(cufftHandle handle, CUstream stream) {
  return with_plan(handle, [&](Plan& plan) {
    plan.stream = stream;
    return CUFFT_SUCCESS;
  });
}

// FFTW's workspaces are its own.
cufftResult td_soft_cufftSetAutoAllocation(cufftHandle handle, int) {
  return with_plan(handle, [](Plan&) { return CUFFT_SUCCESS; });
}
cufftResult td_soft_cufftSetWorkArea(cufftHandle handle, void*) {
  return with_plan(handle, [](Plan&) { return CUFFT_SUCCESS; });
}

cufftResult td_soft_cufftXtMakePlanMany(cufftHandle handle, int rank, long long* n,
                                        long long* in_embed, long long in_stride, long long in_dist,
                                        cudaDataType_t in_type, long long* out_embed,
                                        long long out_stride, long long out_dist,
                                        cudaDataType_t out_type, long long batch,
                                        std::size_t* work_bytes, cudaDataType_t execution_type) {
  if (rank < 1 || rank > 3 || !n || !work_bytes || batch < 1) return CUFFT_INVALID_VALUE;
  if (!known_pair(in_type, out_type)) return CUFFT_INVALID_TYPE;
  bool single = in_type == types::R_32F || in_type == types::C_32F;
  if (execution_type != (single ? types::C_32F : types::C_64F)) return CUFFT_INVALID_TYPE;
  Geometry g;
  g.rank = rank;
  g.batch = batch;
  for (int k = 0; k < rank; ++k) {
    if (n[k] < 1) return CUFFT_INVALID_SIZE;
    g.n[k] = n[k];
  }
  g.in = side_of(g, !is_complex(out_type), in_embed, in_stride, in_dist, in_type);
  g.out = side_of(g, !is_complex(in_type), out_embed, out_stride, out_dist, out_type);
  if (g.in.stride < 1 || g.out.stride < 1 || g.in.dist < 0 || g.out.dist < 0)
    return CUFFT_INVALID_VALUE;
  *work_bytes = 0;
  return with_plan(handle, [&](Plan& plan) {
    plan.single = nullptr;
    plan.twice = nullptr;
    if (single)
      plan.single = std::make_shared<const std::vector<Pass<float>>>(passes_of<float>(g));
    else
      plan.twice = std::make_shared<const std::vector<Pass<double>>>(passes_of<double>(g));
    return CUFFT_SUCCESS;
  });
}

cufftResult td_soft_cufftXtExec(cufftHandle handle, void* input, void* output, int direction) {
  if (direction != FORWARD && direction != INVERSE) return CUFFT_INVALID_VALUE;
  Plan copy;
  cufftResult result = with_plan(handle, [&](Plan& plan) {
    copy = plan;
    return CUFFT_SUCCESS;
  });
  if (result != CUFFT_SUCCESS) return result;
  if (copy.single) return enqueue(copy, *copy.single, input, output, direction);
  if (copy.twice) return enqueue(copy, *copy.twice, input, output, direction);
  return CUFFT_INVALID_PLAN;
}

}  // extern "C"
