// A matrix in compressed rows times a vector, a row for each thread.
extern "C" __global__ void sparse_product(const int* starts, const int* columns, const float* values, const float* x,
                                          float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}
