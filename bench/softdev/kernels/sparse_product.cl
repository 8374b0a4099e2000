// A matrix in compressed rows times a vector, a row for each work-item.
__kernel void sparse_product(__global const int* starts, __global const int* columns, __global const float* values,
                             __global const float* x, __global float* y, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}
