// The cases as hand-written C++ with OpenMP: the same algorithm in the form that is natural on a
// CPU.
#pragma once

#include "case.h"

namespace bench::openmp {

void vector_add(const Buffers&);
void saxpy(const Buffers&);
void naive_product(const Buffers&);
void tiled_product(const Buffers&);
void tree_reduction(const Buffers&);
void vector_reduction(const Buffers&);
void histogram(const Buffers&);
void stencil_2d(const Buffers&);
void stencil_3d(const Buffers&);
void nbody(const Buffers&);
void black_scholes(const Buffers&);
void mandelbrot(const Buffers&);
void mandelbrot_on_one_core(const Buffers&);
void scan(const Buffers&);
void transpose(const Buffers&);
void bitonic_sort(const Buffers&);
void library_sort(const Buffers&);
void sparse_product(const Buffers&);

}  // namespace bench::openmp
