// Sizes of the cases: a pass takes milliseconds on two cores.
#pragma once

namespace bench {

constexpr int kStream = 1 << 22, kProduct = 512, kReduce = 1 << 20, kHistogram = 1 << 22;
constexpr int kPlane = 2048, kSpace = 160, kBodies = 4096, kOptions = 1 << 20;
constexpr int kMandelbrot = 768, kIterations = 256, kScan = 1 << 20, kTranspose = 2048;
constexpr int kSort = 1 << 19, kRows = 1 << 16, kPerRow = 16;
constexpr float kRate = 0.02f, kVolatility = 0.3f, kFactor = 1.5f;

}  // namespace bench
