"""One call of every array function, as text over the names below: the rows of functions.py.

x, y, z: float32 in [0, 1); w: float64; i, j: int32 in [0, 1000), k: int64 places; b: bool; u: uint8;
c: complex64; v: float32 with NaN; s: sorted float32; X, Y: 1e7 float32; XB: 1e7 bool. M: the square
matrix of x, T: rows of 64, kt: their order; A, B: matrices of 512 x 512, S: 2000 matrices of
8 x 8, P: A times its transpose. `n` is the length of x.
"""

ELEMENTWISE = """
abs(x - 0.5) absolute(c) acos(x) acosh(x + 1) add(x, y) angle(c) arccos(x) arccosh(x + 1) arcsin(x)
arcsinh(x) arctan(x) arctan2(x, y) arctanh(x) asin(x) asinh(x) atan(x) atan2(x, y) atanh(x)
around(x, 2) bitwise_and(i, j) bitwise_count(i) bitwise_invert(i) bitwise_left_shift(i, 3)
bitwise_not(i) bitwise_or(i, j) bitwise_right_shift(i, 3) bitwise_xor(i, j) cbrt(x) ceil(x) clip(x,
0.2, 0.8) conj(c) conjugate(c) copysign(x, y) cos(x) cosh(x) deg2rad(x) degrees(x) divide(x, y)
divmod(x, y) divmod(i, 7) equal(x, y) exp(x) exp2(x) expm1(x) fabs(x) fix(x) float_power(x, y)
floor(x) floor_divide(x, y) floor_divide(i, 7) fmax(x, y) fmin(x, y) fmod(x, y) frexp(x) gcd(i, j)
greater(x, y) greater_equal(x, y) heaviside(x, y) hypot(x, y) i0(x) imag(c) invert(i) isclose(x, y)
iscomplex(c) isfinite(x) isinf(x) isnan(x) isneginf(x) isposinf(x) isreal(c) lcm(i, j) ldexp(x, i %
8) left_shift(i, 3) less(x, y) less_equal(x, y) log(x) log10(x) log1p(x) log2(x) logaddexp(x, y)
logaddexp2(x, y) logical_and(x, y) logical_not(b) logical_or(b, b) logical_xor(b, b) maximum(x, y)
minimum(x, y) mod(x, y) mod(i, 7) modf(x) multiply(x, y) nan_to_num(v) negative(x) nextafter(x, y)
not_equal(x, y) positive(x) pow(x, y) power(x, y) power(i, 3) rad2deg(x) radians(x) real(c)
reciprocal(x) remainder(x, y) right_shift(i, 3) rint(x) round(x) sign(x) signbit(x) sin(x) sinc(x)
sinh(x) spacing(x) sqrt(x) square(x) subtract(x, y) tan(x) tanh(x) true_divide(i, j) trunc(x)
unwrap(x) where(b, x, y) select([b, x > 0.5], [x, y]) piecewise(x, [b], [1, 2]) choose(i % 2, [x,
y]) add(x, x[0]) add(M, M[0]) add(M, M[:, :1]) add(M.T, M) add(w, w) exp(w) sqrt(w) sin(w) log(w)
power(w, w) add(i, i) multiply(i, i) add(c, c) multiply(c, c) exp(c) divide(c, c) add(u, u)
x.astype('f8') x.astype('i4') i.astype('f4') b.astype('f4') x.astype('?') u.astype('f4') add(x[::2],
y[::2]) add(x[::-1], y) x.astype('f2')
"""

REDUCTIONS = """
all(b) all(x) amax(x) amin(x) any(b[:n//2] & ~b[:n//2]) any(x) argmax(x) argmin(x) allclose(x, x)
array_equal(x, x) array_equiv(x, x) average(x) average(x, weights=y) count_nonzero(b)
count_nonzero(x) max(x) min(x) mean(x) median(x) median(T, axis=1) nanargmax(v) nanargmin(v)
nanmax(v) nanmean(v) nanmedian(v) nanmin(v) nanpercentile(v, 30) nanprod(v) nanquantile(v, 0.3)
nanstd(v) nansum(v) nanvar(v) percentile(x, 30) percentile(x, [5, 50, 95]) quantile(x, 0.3) prod(x)
ptp(x) std(x) sum(x) var(x) trace(M) cov(T.T) cov(x, y) corrcoef(T.T) median(T, axis=0)
percentile(M, 30, axis=1) sum(M, axis=0) sum(M, axis=1) sum(M.T, axis=0) max(M, axis=0) max(M,
axis=1) std(M, axis=0) std(M, axis=1) sum(T, axis=1) max(T, axis=1) sum(T, axis=0) argmax(M, axis=0)
argmax(M, axis=1) sum(w) max(w) std(w) sum(i) max(i) sum(k) sum(b) mean(b) sum(u) max(u) mean(u)
sum(c) mean(x, axis=None, where=b) sum(x, where=b) sum(T.reshape(-1, 8), axis=1) sum(x.reshape(-1,
2), axis=1) sum(T[:n//4096*64].reshape(64, -1, 64), axis=(0, 2)) sum(x[::2]) sum(x * y)
x.var(ddof=1) trapezoid(x) max(x * y + 1) sum(x.astype('f2')) any(M, axis=0) all(M, axis=1) mean(M,
axis=1, keepdims=True) argmax(T, axis=1) argmin(T, axis=0)
"""

MOVES = """
append(x, y) apply_along_axis(sum, 0, T[:256]) argwhere(b) array(x) atleast_2d(x) block([[M, M], [M,
M]]) broadcast_to(x, (4, n)).copy() column_stack([x, y]) compress(b, x) concat([x, y])
concatenate([x, y]) concatenate([M, M], 1) copy(x) copyto(z, x) copyto(z, x, where=b) delete(x,
slice(0, n, 2)) delete(x, k[:100]) diag(M) diag(x[:512]) diagflat(x[:512]) diagonal(M).copy()
dstack([x, y]) extract(b, x) fill_diagonal(M, 1) flatnonzero(b) flip(x).copy() fliplr(M).copy()
flipud(M).copy() hstack([x, y]) insert(x, 5, 1.0) insert(x, k[:100], 1) M.T.copy()
ascontiguousarray(M.T) asfortranarray(M) T.T.copy() moveaxis(T[:n//4096*64].reshape(64, -1, 64), 0,
-1).copy() nonzero(b) nonzero(x) packbits(b) unpackbits(u) pad(x, 10) pad(M, 8, mode='edge') pad(M,
8, mode='reflect') pad(M, 8, mode='wrap') place(z, b, x[:100]) put(z, k, x) put_along_axis(T, kt, 0,
1) putmask(z, b, x) ravel(M.T) repeat(x, 4) repeat(x, i % 3) repeat(M, 2, axis=1) resize(x, 2 * n)
roll(x, 7) roll(M, 7, axis=1) rot90(M).copy() stack([x, y]) stack([x, y], axis=1) take(x, k) take(x,
sort(k)) take(M, i[:1000], axis=0) take(M, i[:1000], axis=1) take(T, k[:n//64] // 64, axis=0)
take_along_axis(T, kt, 1) tile(x, 4) tile(M, (2, 2)) tri(1000) tril(M) triu(M) trim_zeros(x)
vstack([x, y]) x[b] x[k] x[sort(k)] M[k % 1000] M[:, k[:1000] % 1000] x[::2].copy() z.__setitem__(b,
0) z.__setitem__(k, 1) z.__setitem__(k, x) z.__setitem__(sort(k), x) T.__setitem__(k[:n//64] // 64,
1) add.at(z, k, x) z.__iadd__(x) z.__setitem__(slice(None), x) M[b[:M.shape[0]]] M[M > 0.5]
unstack(M) choose(i % 2, [x, y])
"""

ORDER = """
argpartition(x, n // 2) argsort(x) argsort(i) argsort(T, axis=1) argsort(M, axis=0) digitize(x,
s[:100]) intersect1d(i, j) isin(i, j) isin(x, s[:100]) lexsort((x, i)) partition(x, n // 2)
searchsorted(s, x) searchsorted(s, s) searchsorted(s[:1000], x) searchsorted(s, x[:1000])
setdiff1d(i, j) setxor1d(i, j) sort(x) sort(i) sort(w) sort(u) sort(k) sort(s) sort(c) sort(T,
axis=1) sort(T, axis=0) sort(M, axis=1) sort(M, axis=0) sort(x.reshape(-1, 8), axis=1)
sort(x[:n//256*256].reshape(-1, 256), axis=1) sort(x[:n//16384*16384].reshape(-1, 16384), axis=1)
sort(w.reshape(-1, 64), axis=1) sort_complex(x) union1d(i, j) unique(i) unique(x) unique_all(i)
unique_counts(i) unique_inverse(i) unique_values(i) unique(T[:, :2], axis=0) bincount(i) bincount(i,
weights=x) histogram(x, 256) histogram(x, s[::n//50]) histogram2d(x, y, 32) histogramdd(T[:, :2],
16) histogram_bin_edges(x, 64) interp(x, s[::1024], s[::1024]) partition(T, 32, axis=1) cumprod(x)
cumsum(x) cumsum(T, axis=1) cumsum(T, axis=0) cumsum(M, axis=1) cumsum(i) cumsum(w)
cumulative_prod(x) cumulative_sum(x) nancumprod(v) nancumsum(v) maximum.accumulate(x) diff(x)
ediff1d(x) gradient(x) gradient(M)
"""

PRODUCTS = """
convolve(x, y[:64]) correlate(x, y[:64]) cross(x[:n//3*3].reshape(-1, 3), y[:n//3*3].reshape(-1, 3))
dot(x, y) dot(A, B) einsum('ij,jk->ik', A, B) einsum('ij,ij->i', M, M) inner(x, y) inner(A, B)
kron(A[:32, :32], B[:32, :32]) matmul(A, B) matmul(A, B[0]) matvec(T[:64], T[0]) outer(x[:1000],
y[:1000]) tensordot(A, B, 1) vander(x[:1000], 100) vdot(x, y) vecdot(T, T) vecmat(T[:64].T[0],
T[:64]) matmul(T.reshape(-1, 8, 8), T.reshape(-1, 8, 8)) matmul(A.astype('f8'), B.astype('f8'))
linalg.cholesky(P) linalg.cond(A) linalg.cross(x[:n//3*3].reshape(-1, 3), y[:n//3*3].reshape(-1, 3))
linalg.det(A) linalg.eigh(P) linalg.eigvalsh(P) linalg.inv(A) linalg.lstsq(A, B[:, :4], rcond=None)
linalg.matrix_norm(A) linalg.matrix_power(A, 5) linalg.matrix_rank(A) linalg.multi_dot([A, B, A])
linalg.norm(x) linalg.norm(A) linalg.norm(M, axis=1) linalg.pinv(A) linalg.qr(A) linalg.slogdet(A)
linalg.solve(A, B) linalg.svd(A) linalg.svdvals(A) linalg.vector_norm(x) linalg.eig(A[:128, :128])
linalg.inv(S) linalg.solve(S, S) linalg.det(S) fft.fft(c) fft.fft(T, axis=1) fft.fft2(M) fft.fftn(M)
fft.fftshift(x) fft.hfft(c) fft.ifft(c) fft.ifft2(M) fft.ifftshift(x) fft.irfft(c) fft.rfft(x)
fft.rfft2(M) fft.irfft2(M) fft.rfft(T, axis=1)
"""

CREATION = """
arange(n) arange(n, dtype='f4') blackman(n) bartlett(n) hamming(n) hanning(n) kaiser(n, 8) empty(n)
eye(1000) identity(1000) full(n, 3.0) full_like(x, 3) fromfunction(add, (1000, 1000)) geomspace(1,
100, n) indices((1000, 1000)) ix_(arange(5), arange(6)) linspace(0, 1, n) logspace(0, 1, n)
meshgrid(x[:1000], y[:1000]) ones(n) ones_like(x) zeros(n) zeros_like(x) tril_indices(1000)
triu_indices(1000) diag_indices(1000) unravel_index(k, (1024, 1024)) ravel_multi_index((i, j),
(1024, 1024)) mask_indices(500, triu)
"""

RANDOM = """
random(n) random(n, dtype='f4') standard_normal(n) standard_normal(n, dtype='f4') integers(0, 1000,
n) normal(size=n) uniform(size=n) exponential(size=n) standard_gamma(2.0, size=n) beta(2.0, 3.0,
size=n) poisson(5.0, n) poisson(50.0, n) binomial(50, 0.3, n) geometric(0.3, n) choice(n, n)
choice(n, n // 2, replace=False) permutation(n) shuffle(z) laplace(size=n) logistic(size=n)
gumbel(size=n) lognormal(size=n) pareto(3.0, n) rayleigh(size=n) weibull(2.0, n) triangular(0, 1, 2,
n) standard_cauchy(n) standard_t(5, n) chisquare(3, n) zipf(3, n) vonmises(0, 1, n) wald(1, 1, n)
hypergeometric(50, 50, 20, n) negative_binomial(5, 0.5, n) permuted(T, axis=1) logseries(0.5, n)
dirichlet([1.0, 2.0, 3.0], n // 8) multinomial(20, [0.2, 0.3, 0.5], n // 8) power(2.0, n)
"""

# The goals of the project on the software device: least speed, NumPy's being 1.
GOALS = {
    "sqrt(X * X + Y * Y) * 0.5 + exp(-X)": 3.0,
    "sum(X)": 1.5,
    "max(X)": 1.5,
    "std(X)": 1.5,
    "X.reshape(2500, 4000).T.copy()": 1.0,
    "cumsum(X)": 1.0,
    "X[XB]": 1.0,
    "sort(X)": 1.0,
    "matmul(A, B)": 0.95,
}

# Functions of the namespace without a row: those that look at no values, make views, or work on the
# host, and those of a polynomial's few coefficients.
NO_ROW = """
mintypecode poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots row_stack typename
apply_over_axes array2string array_repr array_split array_str asanyarray asarray asarray_chkfinite
astype atleast_1d atleast_3d base_repr binary_repr broadcast broadcast_arrays broadcast_shapes
can_cast common_type diag_indices_from dsplit dtype einsum_path empty_like expand_dims finfo
format_float_positional format_float_scientific from_dlpack frombuffer fromfile fromiter fromstring
genfromtxt get_printoptions hsplit iinfo index_exp iscomplexobj isdtype isfortran isrealobj isscalar
issubdtype iterable load loadtxt matrix_transpose may_share_memory min_scalar_type ndarray ndim
ndindex permute_dims printoptions promote_types real_if_close require reshape result_type rollaxis
s_ save savetxt savez savez_compressed set_printoptions shape shares_memory show_config size split
squeeze swapaxes transpose tril_indices_from triu_indices_from ufunc vsplit
"""


def split_calls(text):
    """The calls of a table: split at white space outside of brackets."""
    calls, depth, current = [], 0, ""
    for letter in " ".join(text.split()):
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and depth == 0:
            calls.append(current)
            current = ""
        else:
            current += letter
    return [call for call in [*calls, current] if call]


TABLES = {
    "element by element": ELEMENTWISE,
    "reductions": REDUCTIONS,
    "moves": MOVES,
    "order": ORDER,
    "products": PRODUCTS,
    "creation": CREATION,
}
