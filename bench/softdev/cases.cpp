// The sixteen cases: their data, and how their kernels are launched.
#include <random>

#include "openmp.h"
#include "sizes.h"

namespace bench {

namespace {

constexpr std::size_t kFloat = sizeof(float);

Buffer floats(std::size_t count, float low, float high) {
  static std::mt19937 random(1);
  std::vector<float> values(count);
  for (float& value : values)
    value = low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24f;
  return Buffer::of(values);
}

Buffer integers(std::size_t count, unsigned limit) {
  static std::mt19937 random(2);
  std::vector<unsigned> values(count);
  for (unsigned& value : values) value = random() % limit;
  return Buffer::of(values);
}

constexpr unsigned blocks(int count, int block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

template <class... T>
Buffers list(T... buffers) {
  Buffers made;
  (made.push_back(std::move(buffers)), ...);
  return made;
}

Case base(const char* name, const char* work, Buffers buffers, std::vector<unsigned> results,
          double tolerance, void (*openmp)(const Buffers&), std::vector<Launch> launches) {
  Case made;
  made.name = name;
  made.work = work;
  made.buffers = std::move(buffers);
  made.results = std::move(results);
  made.tolerance = tolerance;
  made.kind = tolerance == 0 ? Case::Kind::integers : Case::Kind::floats;
  made.openmp = openmp;
  made.launches = std::move(launches);
  return made;
}

void add_streams(std::vector<Case>& cases) {
  std::size_t bytes = kStream * kFloat;
  Size grid{blocks(kStream, 256)};
  cases.push_back(base("vector_add", "4 Mi float32",
                       list(floats(kStream, 0, 1), floats(kStream, 0, 1), Buffer::zeros(bytes)),
                       {2}, 1e-6, openmp::vector_add,
                       {{"vector_add", grid, {256}, {At{0}, At{1}, At{2}, kStream}}}));
  cases.push_back(base("saxpy", "4 Mi float32",
                       list(floats(kStream, 0, 1), floats(kStream, 0, 1), Buffer::zeros(bytes)),
                       {2}, 1e-6, openmp::saxpy,
                       {{"saxpy", grid, {256}, {kFactor, At{0}, At{1}, At{2}, kStream}}}));
}

void add_products(std::vector<Case>& cases) {
  constexpr int n = kProduct;
  Size grid{n / 16, n / 16}, block{16, 16};
  auto data = [] {
    return list(floats(n * n, -1, 1), floats(n * n, -1, 1), Buffer::zeros(n * n * kFloat));
  };
  cases.push_back(base("naive_product", "512 x 512", data(), {2}, 1e-4, openmp::naive_product,
                       {{"naive_product", grid, block, {At{0}, At{1}, At{2}, n}}}));
  cases.push_back(base("tiled_product", "512 x 512, tiles of 16", data(), {2}, 1e-4,
                       openmp::tiled_product,
                       {{"tiled_product", grid, block, {At{0}, At{1}, At{2}, n}}}));
}

void add_reductions(std::vector<Case>& cases) {
  Size grid{kReduce / 256};
  auto data = [] { return list(floats(kReduce, 0, 1), Buffer::zeros(kReduce / 256 * kFloat)); };
  cases.push_back(base("tree_reduction", "1 Mi float32, blocks of 256", data(), {1}, 1e-5,
                       openmp::tree_reduction,
                       {{"tree_reduction", grid, {256}, {At{0}, At{1}, kReduce}}}));
  cases.back().best_on_cpu = openmp::vector_reduction;
  cases.push_back(base("shuffle_reduction", "1 Mi float32, blocks of 256", data(), {1}, 1e-5,
                       openmp::tree_reduction,
                       {{"shuffle_reduction", grid, {256}, {At{0}, At{1}, kReduce}}}));
  cases.back().best_on_cpu = openmp::vector_reduction;
}

void add_histogram(std::vector<Case>& cases) {
  constexpr int per_block = 16384;
  Size grid{blocks(kHistogram, per_block)};
  cases.push_back(base("histogram", "4 Mi uint32 into 256 bins",
                       list(integers(kHistogram, 1u << 30), Buffer::zeros(1024)), {1}, 0,
                       openmp::histogram,
                       {{"clear_bins", {1}, {256}, {At{1}}},
                        {"histogram", grid, {256}, {At{0}, At{1}, kHistogram, per_block}}}));
}

void add_stencils(std::vector<Case>& cases) {
  std::size_t plane = kPlane * kPlane, space = kSpace * kSpace * kSpace;
  cases.push_back(base("stencil_2d", "5 points, 2048 x 2048",
                       list(floats(plane, 0, 1), Buffer::zeros(plane * kFloat)), {1}, 1e-6,
                       openmp::stencil_2d,
                       {{"stencil_2d",
                         {blocks(kPlane, 32), blocks(kPlane, 8)},
                         {32, 8},
                         {At{0}, At{1}, kPlane, kPlane}}}));
  cases.push_back(base("stencil_3d", "7 points, 160 x 160 x 160",
                       list(floats(space, 0, 1), Buffer::zeros(space * kFloat)), {1}, 1e-6,
                       openmp::stencil_3d,
                       {{"stencil_3d",
                         {blocks(kSpace, 32), blocks(kSpace, 4), blocks(kSpace, 2)},
                         {32, 4, 2},
                         {At{0}, At{1}, kSpace, kSpace, kSpace}}}));
}

void add_arithmetic(std::vector<Case>& cases) {
  cases.push_back(base("nbody", "4096 bodies, all pairs, tiles of 256",
                       list(floats(4 * kBodies, -1, 1), Buffer::zeros(4 * kBodies * kFloat)), {1},
                       1e-3, openmp::nbody,
                       {{"nbody", {kBodies / 256}, {256}, {At{0}, At{1}, kBodies}}}));
  std::size_t bytes = kOptions * kFloat;
  cases.push_back(
      base("black_scholes", "1 Mi options",
           list(floats(kOptions, 5, 30), floats(kOptions, 1, 100), floats(kOptions, 0.25f, 10),
                Buffer::zeros(bytes), Buffer::zeros(bytes)),
           {3, 4}, 1e-4, openmp::black_scholes,
           {{"black_scholes",
             {blocks(kOptions, 256)},
             {256},
             {At{0}, At{1}, At{2}, At{3}, At{4}, kRate, kVolatility, kOptions}}}));
  constexpr int n = kMandelbrot;
  cases.push_back(
      base("mandelbrot", "768 x 768, at most 256 iterations",
           list(Buffer::zeros(n * n * sizeof(int))), {0}, 0, openmp::mandelbrot,
           {{"mandelbrot", {blocks(n, 16), blocks(n, 16)}, {16, 16}, {At{0}, n, n, kIterations}}}));
  cases.back().scalar = openmp::mandelbrot_on_one_core;
}

void add_moves(std::vector<Case>& cases) {
  std::size_t bytes = kScan * kFloat;
  constexpr int sums = kScan / 256;
  cases.push_back(
      base("scan", "inclusive, 1 Mi float32, blocks of 256",
           list(floats(kScan, 0, 1), Buffer::zeros(bytes), Buffer::zeros(sums * kFloat)), {1}, 1e-3,
           openmp::scan,
           {{"scan_blocks", {sums}, {256}, {At{0}, At{1}, At{2}}},
            {"scan_sums", {1}, {1}, {At{2}, sums}},
            {"add_sums", {sums}, {256}, {At{1}, At{2}}}}));
  constexpr unsigned tiles = kTranspose / 32;
  std::size_t matrix = static_cast<std::size_t>(kTranspose) * kTranspose;
  cases.push_back(base("transpose", "2048 x 2048 float32, tiles of 32",
                       list(floats(matrix, 0, 1), Buffer::zeros(matrix * kFloat)), {1}, 1e-6,
                       openmp::transpose,
                       {{"transpose", {tiles, tiles}, {32, 8}, {At{0}, At{1}, kTranspose}}}));
  cases.push_back(base("bitonic_sort", "512 Ki int32, pieces of 512",
                       list(integers(kSort, 1u << 30), Buffer::zeros(kSort * sizeof(int))), {1}, 0,
                       openmp::bitonic_sort,
                       {{"bitonic_sort", {kSort / 512}, {256}, {At{0}, At{1}}}}));
  cases.back().best_on_cpu = openmp::library_sort;
}

// Rows of 8 to 24 numbers at random columns.
void add_sparse(std::vector<Case>& cases) {
  std::mt19937 random(3);
  std::vector<int> starts{0}, columns;
  for (int row = 0; row < kRows; ++row) {
    int count = kPerRow / 2 + static_cast<int>(random() % (kPerRow + 1));
    for (int i = 0; i < count; ++i) columns.push_back(static_cast<int>(random() % kRows));
    starts.push_back(static_cast<int>(columns.size()));
  }
  cases.push_back(base("sparse_product", "64 Ki rows of 8 to 24 float32",
                       list(Buffer::of(starts), Buffer::of(columns), floats(columns.size(), -1, 1),
                            floats(kRows, -1, 1), Buffer::zeros(kRows * kFloat)),
                       {4}, 1e-4, openmp::sparse_product,
                       {{"sparse_product",
                         {blocks(kRows, 256)},
                         {256},
                         {At{0}, At{1}, At{2}, At{3}, At{4}, kRows}}}));
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_streams(cases);
  add_products(cases);
  add_reductions(cases);
  add_histogram(cases);
  add_stencils(cases);
  add_arithmetic(cases);
  add_moves(cases);
  add_sparse(cases);
  return cases;
}

}  // namespace bench
