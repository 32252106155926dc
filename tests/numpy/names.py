"""The public names of NumPy that the library has an answer to, by who else has them."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: NumPy, PyTorch and the array API standard have them.
STANDARD = _words(
    """
    abs acos acosh add all any arange argmax argmin argsort asarray asin asinh atan atan2
    atanh bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bool
    broadcast_shapes broadcast_to can_cast ceil clip complex128 complex64 concat conj
    copysign cos cosh count_nonzero diff divide e empty empty_like equal exp expm1 eye finfo
    flip float32 float64 floor floor_divide from_dlpack full full_like greater greater_equal
    hypot iinfo imag inf int16 int32 int64 int8 isfinite isin isinf isnan less less_equal
    linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor
    matmul max maximum mean meshgrid min minimum moveaxis multiply nan negative newaxis
    nextafter nonzero not_equal ones ones_like pi positive pow prod real reciprocal
    remainder reshape result_type roll round searchsorted sign signbit sin sinh sort sqrt
    square squeeze stack std subtract sum take tan tanh tensordot tile tril triu trunc
    uint16 uint32 uint64 uint8 var where zeros zeros_like
    """
)
#: NumPy and PyTorch have them.
SHARED = _words(
    """
    absolute allclose amax amin angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh
    argwhere atleast_1d atleast_2d atleast_3d bincount bitwise_not cdouble column_stack
    concatenate corrcoef cov cross cumprod cumsum deg2rad diag diagflat diagonal dot double
    dsplit dstack dtype einsum exp2 fix fliplr flipud float16 float_power fmax fmin fmod
    frexp frombuffer gcd gradient half heaviside histogram histogramdd hsplit hstack i0
    inner isclose isneginf isposinf isreal kron lcm ldexp load logaddexp2 logspace long
    median nan_to_num nanmean nanmedian nanquantile nansum outer promote_types put quantile
    rad2deg ravel rot90 row_stack save select set_printoptions short sinc split swapaxes
    trace transpose trapezoid tril_indices triu_indices true_divide typename unique
    unravel_index vander vdot vsplit vstack
    """
)
#: NumPy and the standard have them.
STANDARD_ONLY = _words(
    """
    astype bitwise_invert broadcast_arrays cumulative_prod cumulative_sum expand_dims
    isdtype matrix_transpose permute_dims repeat take_along_axis unique_all unique_counts
    unique_inverse unique_values unstack vecdot
    """
)
#: NumPy alone has them.
WANTED = _words(
    """
    False_ True_ append apply_along_axis argpartition around array array_equal array_equiv
    array_split asanyarray ascontiguousarray average bartlett bitwise_count blackman block
    bool_ c_ cbrt common_type compress conjugate convolve copy copyto correlate degrees
    delete diag_indices diag_indices_from digitize divmod ediff1d errstate euler_gamma
    extract fabs fill_diagonal flatnonzero fromfunction fromiter geomspace get_printoptions
    hamming hanning histogram2d histogram_bin_edges identity index_exp indices insert int_
    interp intersect1d intp invert iscomplex iscomplexobj isrealobj isscalar issubdtype ix_
    kaiser left_shift lexsort matvec mgrid min_scalar_type mod modf nanargmax nanargmin
    nancumprod nancumsum nanmax nanmin nanpercentile nanprod nanstd nanvar ndarray ndim
    ogrid pad partition percentile piecewise place power printoptions ptp put_along_axis
    putmask r_ radians ravel_multi_index resize right_shift rint rollaxis s_ savez
    savez_compressed setdiff1d setxor1d shape single size tri tril_indices_from trim_zeros
    triu_indices_from union1d unwrap vecmat vectorize
    """
)
#: NumPy alone has them; the top level hands them on to it, `tinytorch.numpy` has them of its own.
OUT_OF_SCOPE = _words(
    """
    ScalarType apply_over_axes array2string array_repr array_str asarray_chkfinite
    asfortranarray asmatrix base_repr binary_repr bmat broadcast busday_count busday_offset
    busdaycalendar byte bytes_ character choose clongdouble complex256 complexfloating
    csingle datetime64 datetime_as_string datetime_data einsum_path flatiter flexible
    float128 floating format_float_positional format_float_scientific fromfile frompyfunc
    fromregex fromstring generic genfromtxt get_include getbufsize geterr geterrcall inexact
    info intc integer is_busday isfortran isnat iterable little_endian loadtxt longdouble
    longlong mask_indices matrix may_share_memory memmap mintypecode ndenumerate ndindex
    nditer nested_iters number object_ packbits poly poly1d polyadd polyder polydiv polyfit
    polyint polymul polysub polyval real_if_close recarray record require roots savetxt
    sctypeDict setbufsize seterr seterrcall shares_memory show_config show_runtime
    signedinteger sort_complex spacing str_ test timedelta64 typecodes ubyte ufunc uint
    uintc uintp ulong ulonglong unpackbits unsignedinteger ushort void
    """
)
#: What a tensor is to answer to under the top level and in ``tinytorch.numpy``.
ANSWERED = (*STANDARD, *SHARED, *STANDARD_ONLY, *WANTED)
