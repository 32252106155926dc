"""Calls of the functions that NumPy and PyTorch both have, in NumPy's words.

By name a list of expressions: the function's own arguments, in terms of the data in ``data``.
"""

from __future__ import annotations

#: Elementwise functions of one operand, and on which data.
UNARY = {
    "v": "abs absolute ceil conj conj_physical cos cosh deg2rad exp exp2 expm1 fix floor isfinite "
         "isinf isnan isneginf isposinf isreal negative positive rad2deg real reciprocal sign "
         "signbit sin sinc sinh square tan tanh trunc arcsinh arctan asinh atan i0",
    "u": "acos asin atanh arccos arcsin arctanh log log10 log1p log2 sqrt",
    "s": "acosh arccosh",
    "i": "bitwise_not bitwise_invert bitwise_count invert",
    "b": "logical_not",
    "c": "angle imag",
}  # fmt: skip
UNARY["v"] = UNARY["v"].replace("conj_physical ", "")
#: Elementwise functions of two operands.
BINARY = {
    "v, s": "add arctan2 atan2 copysign divide equal floor_divide fmax fmin fmod greater "
            "greater_equal hypot less less_equal logaddexp logaddexp2 logical_and logical_or "
            "logical_xor maximum minimum multiply nextafter not_equal remainder subtract "
            "true_divide float_power heaviside",
    "s, v": "pow power mod",
    "i, j": "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm "
            "left_shift right_shift",
    "v, i": "ldexp",
}  # fmt: skip

#: What else there is to say of them, and all the others.
CALLS: dict[str, list[str]] = {
    "abs": ["c", "-3", "[1, -2]"], "add": ["v, 1.5", "2, i", "[1, 2], 3.5", "f, i", "h, h"],
    "exp": ["1", "[0, 1]", "f", "h"], "sqrt": ["4", "i", "h"], "sin": ["0.5", "v, dtype='float32'"],
    "negative": ["i"], "reciprocal": ["i"], "sign": ["n", "i"], "square": ["i"],
    "rint": ["[0.5, 1.5]"], "floor": ["i", "[1.5]"], "divide": ["i, j", "1, v", "h, h"],
    "maximum": ["v, 1.5", "1.5, v", "f, 0.1", "n, v4"], "minimum": ["m, 1", "f, i"],
    "fmax": ["v, 1.5", "n, 0"], "fmin": ["v, 1.5"], "fmod": ["v, 2"], "hypot": ["3.0, 4", "v, 1"],
    "arctan2": ["v, 1", "i, j"], "atan2": ["1, v"], "logaddexp": ["v, 1"], "copysign": ["v, -1"],
    "heaviside": ["v, 0.5", "i, 1"], "power": ["i, 2", "v, 2", "2, v"], "pow": ["s, 0.5"],
    "remainder": ["-3, 2", "i, 2"], "floor_divide": ["v, 2", "i, 2"], "nextafter": ["v, 0"],
    "gcd": ["12, 8"], "lcm": ["i, 6"], "logical_and": ["b, True", "v, 0"], "equal": ["m, m.T.T"],
    "ldexp": ["v, 2"], "subtract": ["3, v"], "multiply": ["2, 3", "c, v"], "isnan": ["[1, nan]"],
    "angle": ["c, deg=True", "v"], "imag": ["v"], "real": ["c", "[1 + 2j]"], "conj": ["c"],
    "bitwise_not": ["b"], "float_power": ["i, 2"], "true_divide": ["i, 2"], "i0": ["2"],
    "all": ["b", "x > 1, axis=(0, 2)", "m, axis=1, keepdims=True", "b, where=[True, False, True]"],
    "any": ["b", "x > 30, axis=0", "m, axis=None"],
    "sum": ["m", "x, axis=(0, 1), keepdims=True", "i", "h", "b", "m, 0", "[1.5, 2]",
            "m, axis=0, dtype='float32'", "m, initial=5", "m, where=m > 1", "m, axis=()"],
    "prod": ["m", "m, axis=1", "x, axis=(0, 1)", "i", "m, axis=None", "m, initial=2"],
    "mean": ["m", "i", "x, axis=(0, 2), keepdims=True", "[1, 2]", "m, where=m > 1", "f", "c"],
    "std": ["m", "m, axis=1", "m, ddof=1", "i", "x, axis=(0, 1), keepdims=True",
            "m, where=m > 0", "c", "m, correction=1"],
    "var": ["m", "m, axis=0, ddof=1", "c", "[1, 2, 4]", "m, axis=1, where=m > 0"],
    "max": ["m", "m, 1", "x, axis=(0, 2)", "m, axis=1, keepdims=True", "[1, 3]", "m, initial=9",
            "m, where=m < 4, initial=0", "i"],
    "min": ["m", "m, 1", "x, axis=(0, 2)", "m, initial=-1"], "amax": ["m, axis=0"],
    "amin": ["m, axis=0"],
    "argmax": ["m", "m, axis=1", "m, axis=1, keepdims=True", "b", "m, axis=None, keepdims=True"],
    "argmin": ["m", "m, axis=0"],
    "argsort": ["m", "m, axis=0", "m, axis=None", "m, kind='stable'"], "argwhere": ["m > 2"],
    "count_nonzero": ["m", "m, axis=1", "x, axis=(0, 1), keepdims=True"],
    "cumsum": ["m", "m, axis=1", "i", "m, axis=None"], "cumprod": ["m", "m, axis=0"],
    "median": ["m", "m, axis=0", "[1, 2, 3, 4]", "x, axis=(0, 1), keepdims=True"],
    "nanmedian": ["n", "n, axis=0"], "nanmean": ["n", "n2, axis=0"], "nansum": ["n", "n2, axis=1"],
    "quantile": ["m, 0.3", "m, [0.3, 0.5], axis=1", "i, 0.5", "m, 0.3, method='lower'"],
    "nanquantile": ["n, 0.3", "n2, 0.3, axis=1"],
    "sort": ["m", "m, axis=0", "m, axis=None", "m, kind='stable'", "[3, 1]", "b"],
    "searchsorted": ["s, 2", "s, [1.5, 9]", "s, v, side='right'", "s, v, 'right'",
                     "v, 2, sorter=[1, 2, 0]"],
    "isin": ["v, [1, 2]", "i, i, invert=True"], "nonzero": ["m", "x > 3"],
    "where": ["m > 2", "m > 2, m, 0", "b, 1, 2.5", "b, i, v", "b, f, 1"],
    "unique": ["i", "r", "r, return_index=True", "m, axis=1", "n", "n, equal_nan=False",
               "r, return_inverse=True, return_counts=True"],
    "clip": ["m, 1, 3", "m, a_min=1, a_max=None", "m, None, 2", "i, 2, 3", "m, min=1, max=3"],
    "concatenate": ["[m, m]", "(m, m), 1", "[m, v], axis=None", "[i, f]", "[[1, 2], [3.5]]"],
    "concat": ["[m, m], axis=1"], "stack": ["[v, s], axis=1", "[i, v]"],
    "vstack": ["[v, s]", "([1, 2], [3, 4])"], "hstack": ["[v, s]", "(m, m)"],
    "row_stack": ["[v, s]"], "dstack": ["[v, s]"], "column_stack": ["[v, s]"],
    "atleast_1d": ["1.5", "m", "v, 1"], "atleast_2d": ["[1, 2]"], "atleast_3d": ["v", "m"],
    "split": ["v, 3", "m, 3, axis=1", "v, [1]"], "hsplit": ["m, 3", "v, [1]"],
    "vsplit": ["m, 2"], "dsplit": ["x, 2"],
    "reshape": ["x, (4, -1)", "x, -1", "m, (3, 2), order='F'", "[1, 2], (2, 1)", "m, shape=(3, 2)"],
    "ravel": ["m", "m, order='F'", "[[1], [2]]"], "squeeze": ["m[None]", "m[None], axis=0"],
    "transpose": ["x", "x, (2, 0, 1)", "m", "x, axes=(0, 2, 1)"],
    "moveaxis": ["x, 0, -1", "x, (0, 1), (1, 0)"], "swapaxes": ["x, 0, 2", "x, axis1=0, axis2=1"],
    "flip": ["m", "m, 0", "x, (0, 2)", "x, axis=1"], "fliplr": ["m"], "flipud": ["m"],
    "roll": ["m, 1", "m, 1, axis=1", "m, (1, 2), axis=(0, 1)"],
    "rot90": ["m", "m, k=2", "m, 1, (1, 0)", "x, 3, axes=(1, 2)"],
    "tile": ["v, 2", "v, (2, 2)", "m, reps=2", "[1, 2], 2"],
    "broadcast_to": ["v, (2, 3)", "2, 3"], "broadcast_shapes": ["(2, 3), (3,)", "(4, 1), (1, 5)"],
    "take": ["m, [0, 1]", "m, [0, 1], axis=1", "m, [0, 7], axis=1, mode='wrap'",
             "m, [0, 7], mode='clip'", "m, [[0], [1]], 0"],
    "put": ["W(m), [0, 4], [9, 8]", "W(m), [0, 9], 7, mode='clip'"],
    "arange": ["3", "3.0", "1, 7, 2", "0, 1, 0.25", "5, 2, -1", "3, dtype='int32'", "5, 2"],
    "linspace": ["0, 1", "0, 1, num=5", "0, 1, 5, endpoint=False", "0, 1, 3, retstep=True",
                 "v, s, 3, axis=1", "0, 9, 4, dtype='int64'", "0, 1, 1"],
    "logspace": ["0, 2, 3", "0, 2, num=4, base=2", "0, 1"],
    "zeros": ["3", "(2, 3)", "2, dtype='int32'", "(2,), order='C'"], "ones": ["(2,)", "shape=2"],
    "empty": ["(0, 2)", "0, dtype='int8'"], "full": ["(2, 2), 3", "(2, 2), [1, 2]", "2, 1.5",
                                                    "2, 1, dtype='float32'"],
    "zeros_like": ["f", "[1, 2]", "m, shape=(3,)"], "ones_like": ["f, dtype=int", "i"],
    "empty_like": ["m[:0]"], "full_like": ["i, 2.7", "m, 2", "m, v"],
    "eye": ["3", "2, 3", "3, k=1", "N=2, M=3", "3, dtype='int64'"],
    "asarray": ["[1, 2]", "[1.5]", "v", "v, dtype='float32'", "v, copy=True", "2j"],
    "meshgrid": ["v, s", "v, s, indexing='ij'", "v, s, sparse=True", "v, s, v"],
    "tril": ["m", "m, k=1", "x"], "triu": ["m", "m, k=-1"], "diag": ["v", "m", "v, k=1", "m, -1"],
    "diagflat": ["m", "v, k=1"], "diagonal": ["m", "m, 1", "x, offset=1, axis1=1, axis2=2"],
    "tril_indices": ["3", "3, 1", "3, k=1", "3, k=0, m=4"], "triu_indices": ["3", "3, k=1, m=4"],
    "vander": ["v", "[1, 2, 3]", "v, 2", "v, N=2, increasing=True"],
    "unravel_index": ["5, (2, 3)", "[5, 1], (2, 3)", "[5, 1], (2, 3), order='F'"],
    "matmul": ["q, q", "[[1, 2]], [[1], [2]]", "q, i", "x, x.swapaxes(1, 2)"],
    "dot": ["v, s", "q, v", "2, 3", "x, w", "x, q4", "m, q", "i, v"],
    "vdot": ["v, s", "m, m", "c, c"], "inner": ["v, s", "m, m", "x, w"], "outer": ["v, s", "m, v"],
    "kron": ["v, s", "m, q"], "tensordot": ["m, m, axes=([0], [0])", "q, q", "x, w, 1", "q, q, 2"],
    "einsum": ["'ij,kj->ik', m, m", "'ij->ji', m", "'ij,j', m, i", "'ii', q, optimize=True"],
    "trace": ["m", "m, offset=1", "x, offset=1, axis1=1, axis2=2", "q"],
    "cross": ["v, s", "q, v", "m, m, axis=1"], "cov": ["m", "m, rowvar=False", "m, ddof=0", "v, s",
                                                      "m, bias=True", "v",
                                                      "m, fweights=[1, 2, 1]"],
    "corrcoef": ["m", "m, rowvar=False", "v, s"], "diff": ["m", "m, n=2", "v, prepend=0",
                                                          "m, axis=0", "v, append=[1, 2]"],
    "trapezoid": ["v", "v, s", "v, dx=2", "m, axis=0", "i"],
    "gradient": ["v", "v, 2.0", "m, axis=0", "m", "x[0], 1.0, 2.0", "v, s", "[1, 2, 4]",
                 "w, edge_order=2"],
    "bincount": ["i", "i, minlength=6", "i, weights=v"],
    "histogram": ["v", "v, bins=3, range=(0, 3)", "r, bins=[0, 1, 2, 3]", "v, density=True",
                  "v, 2, weights=v"],
    "histogramdd": ["m.T, 2", "m.T", "[v, s], bins=(2, 3)", "m.T, 2, density=True"],
    "select": ["[m > 3, m > 1], [m, m * 2], 9", "[b, v > 1], [i, j], default=7", "[b], [f]"],
    "isclose": ["m, m + 1e-9", "v, 1.0", "n, n, equal_nan=True", "v, s, rtol=0.5"],
    "allclose": ["m, m + 1e-9", "v, s", "n, n, equal_nan=True"],
    "nan_to_num": ["n", "n, nan=1", "n, copy=True, nan=2"], "frexp": ["v", "i"],
    "round": ["m * 1.234, 1", "v", "m * 12.34, decimals=-1", "[0.5, 1.5]"],
    "result_type": ["'float32', 'int64'", "f, 1.5", "i, 1.5", "f, i"],
    "promote_types": ["'float32', 'int64'", "'int8', 'uint8'"],
    "can_cast": ["'int64', 'float32'", "'int8', 'int16'", "'float64', 'float32', 'same_kind'"],
    "from_dlpack": ["v"], "frombuffer": ["bytes(8), dtype='int32'",
                                         "bytes(8), dtype='int8', count=2, offset=1"],
    "finfo": [".eps"], "iinfo": [".max"],
}  # fmt: skip
for data, listed in UNARY.items():
    for name in listed.split():
        CALLS.setdefault(name, []).insert(0, data)
for data, listed in BINARY.items():
    for name in listed.split():
        CALLS.setdefault(name, []).insert(0, data)
