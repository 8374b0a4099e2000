// The device headers of src/kernels as text, to be put in front of generated CUDA C++.
#pragma once

namespace td::fuse {

extern const char kText_types[];          // td_half, td_complex, td_cast, vector loads
extern const char kText_ops[];            // arithmetic, comparison, bits
extern const char kText_math[];           // floating-point functions
extern const char kText_reduce[];         // reduction functors
extern const char kText_philox[];         // random numbers
extern const char kText_fill[];           // arrays of random numbers
extern const char kText_user[];           // what user kernels may use
extern const char kText_scan[];           // running sums
extern const char kText_scan_tiles[];     // long rows in one pass
extern const char kText_sort[];           // keys and radix sort
extern const char kText_sort_long[];      // the same for rows longer than a block
extern const char kText_sort_serial[];    // the same by few threads
extern const char kText_select_rows[];    // elements by place, one row a warp
extern const char kText_sort_warp[];      // rows of a few elements, one a warp
extern const char kText_correlate[];      // sliding products
extern const char kText_search[];         // binary search, moving elements by place
extern const char kText_distributions[];  // random numbers of other distributions

extern const char kText_python[];           // what kernels written in Python mean
extern const char kText_python_complex[];   // cmath for them
extern const char kText_python_folds[];     // sums of whole arrays
extern const char kText_python_bfloat16[];  // the type and its roundings
extern const char kText_python_declared[];  // calls of functions of CUDA C++
extern const char kText_scatter[];          // atomic updates of every element type
extern const char kText_select[];           // which of equal indices is the last
extern const char kText_compact[];          // what a mask keeps, in order
extern const char kText_count[];            // bins, ranges

}  // namespace td::fuse
