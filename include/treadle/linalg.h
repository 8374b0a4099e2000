// Linear algebra on stacks of matrices: decompositions with LAPACK's meaning, computed by cuSOLVER
// on a GPU and by LAPACK on the software device.
//
// The last two axes of an array are its matrices, all others count them. Dtypes: float32, float64,
// complex64 and complex128 as they are; integers and bool become float64; float16 is a TypeError.
// Nothing is computed in TF32. Results are new and C-contiguous. LinAlgError: fewer than two axes,
// matrices that are not square where they must be, or a failed decomposition; finding that out
// waits for the device.
#pragma once

#include "treadle/array.h"
#include "treadle/error.h"

namespace [[gnu::visibility("default")]] td {

// Python: numpy.linalg.LinAlgError (a ValueError).
class LinAlgError : public ValueError {
 public:
  using ValueError::ValueError;
};

namespace linalg {

// P A = L U: both factors in one matrix (L has a unit diagonal), and int64 pivots counted from 1.
// A singular matrix has a zero on the diagonal of U; that is no error.
struct LU {
  Array factors;  // (..., n, n)
  Array pivots;   // (..., n)
};
LU lu(const Array& a);

// X of A X = B. `b` with one axis is a vector; otherwise its last two axes are matrices, and the
// others broadcast with those of `a`. LinAlgError "Singular matrix".
Array solve(const Array& a, const Array& b);
// LinAlgError "Singular matrix", unless `nan_where_singular`.
Array inv(const Array& a, bool nan_where_singular = false);

// L of A = L L', or U of A = U' U. Reads that triangle only. LinAlgError unless positive definite.
Array cholesky(const Array& a, bool upper = false);

// Householder vectors and R as LAPACK packs them, transposed: (..., n, m); and their scales.
struct PackedQR {
  Array packed, tau;
};
PackedQR qr_packed(const Array& a);
// Q: (..., m, k), R: (..., k, n), with k = min(m, n), or m when `complete`.
struct QR {
  Array q, r;
};
QR qr(const Array& a, bool complete = false);
Array qr_r(const Array& a);

enum class Vectors { none, reduced, complete };

// A = U diag(S) Vh, S descending. No vectors: only `s` is set.
struct SVD {
  Array u, s, vh;
};
SVD svd(const Array& a, Vectors vectors = Vectors::complete);

// Ascending real eigenvalues of Hermitian matrices (only one triangle is read), and eigenvectors as
// columns.
struct Eigh {
  Array w, v;
};
Eigh eigh(const Array& a, bool upper = false, bool vectors = true);

// Complex eigenvalues of general matrices, and right eigenvectors of length 1 as columns.
Eigh eig(const Array& a, bool vectors = true);

// A read-only view of the diagonals that lie `offset` columns to the right of the main one.
Array diagonal(const Array& a, std::int64_t offset = 0);

// Zero above (lower) or below (upper) the k-th diagonal.
Array tril(const Array& a, std::int64_t k = 0);
Array triu(const Array& a, std::int64_t k = 0);

}  // namespace linalg

}  // namespace td
