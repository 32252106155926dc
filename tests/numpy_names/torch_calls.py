"""Calls of the functions that PyTorch has, too, in PyTorch's words; see ``shared_calls``."""

from __future__ import annotations

from numpy_names.shared_calls import BINARY, UNARY

#: What PyTorch has under another name, or not for these data.
_NOT_HERE = set("bitwise_invert bitwise_count invert mod power left_shift right_shift".split())

CALLS: dict[str, list[str]] = {
    "all": ["b", "m > 1, 1"], "any": ["b", "m > 1, dim=0"], "sum": ["m", "m, 0", "m, dim=(0, 1)"],
    "allclose": ["m, m + 1e-9", "v, s"], "isclose": ["v, s", "n, n, equal_nan=True"],
    "amax": ["m, 1"], "amin": ["m, dim=0"], "argwhere": ["m > 2"], "argmax": ["m, 1"],
    "argmin": ["m"], "argsort": ["m, dim=0", "v"], "arange": ["3", "1, 7, 2", "0.0, 1, 0.25"],
    "asarray": ["[1, 2]", "[1.5, 2]"], "atleast_1d": ["v"], "atleast_2d": ["v"],
    "atleast_3d": ["v"], "bincount": ["i"], "broadcast_shapes": ["(2, 1), (3,)"],
    "broadcast_to": ["v, (2, 3)"], "can_cast": ["float32, int64", "int64, float32"],
    "clip": ["m, 1, 3", "m, min=2.0"], "column_stack": ["[v, s]"], "concat": ["[m, m], 1"],
    "concatenate": ["[m, m]", "[m, m], dim=1"], "corrcoef": ["m"],
    "count_nonzero": ["m", "m, dim=1"], "cov": ["m", "m, correction=0"],
    "cross": ["q, q.T, dim=1"], "cumprod": ["m, 1"], "cumsum": ["m, 0"], "diag": ["v", "q, 1"],
    "diagflat": ["v"], "diagonal": ["q", "x, 0, 1, 2"], "diff": ["m", "m, 1, 0"], "dot": ["v, s"],
    "dsplit": ["x, 2"], "dstack": ["[v, s]"], "einsum": ["'ij,j->i', q, v"], "empty": ["0"],
    "empty_like": ["m[:0]"], "equal": ["v, v", "v, s"], "eye": ["3", "2, 3"], "flip": ["m, (0,)"],
    "fliplr": ["m"], "flipud": ["m"], "frexp": ["v"], "from_dlpack": ["v"],
    "frombuffer": ["bytearray(8), dtype=lib.int32"], "full": ["(2,), 3", "(2,), 1.5"],
    "full_like": ["m, 2"], "gradient": ["v", "m, dim=0"], "histogram": ["v, 3"],
    "histogramdd": ["m.T, [2, 2]"], "hsplit": ["m, 3"], "hstack": ["[v, s]"], "inner": ["v, s"],
    "isin": ["v, s"], "kron": ["m, q"], "linspace": ["0, 1, 5"], "logspace": ["0, 2, 3"],
    "matmul": ["q, v"], "max": ["m", "m, 1", "m, 1, True", "v, s"], "mean": ["m", "m, 1"],
    "median": ["v4", "m, 1"], "meshgrid": ["v, s, indexing='ij'"], "min": ["m", "m, dim=0", "v, s"],
    "moveaxis": ["x, 0, 2"], "nan_to_num": ["n"], "nanmean": ["n2, 0"], "nanmedian": ["n", "n2, 1"],
    "nanquantile": ["n, 0.5"], "nansum": ["n2, 1"], "nonzero": ["m", "m, as_tuple=True"],
    "ones": ["2, 3"], "ones_like": ["m"], "outer": ["v, s"], "prod": ["m", "m, 1"],
    "promote_types": ["float32, int64", "int8, lib.uint8"], "put": ["v, lib.tensor([0]), s[:1]"],
    "quantile": ["m, 0.3", "m, 0.3, dim=1"], "ravel": ["m"], "reshape": ["m, (3, 2)"],
    "result_type": ["v, 1", "i, 1.5", "i, v"], "roll": ["m, 1", "m, 1, 0"], "rot90": ["m"],
    "round": ["v", "m, decimals=1"], "row_stack": ["[v, s]"], "searchsorted": ["s, v"],
    "select": ["m, 0, 1"], "sort": ["m", "m, 0, descending=True"],
    "split": ["v, 2", "m, [1, 2], 1"],
    "squeeze": ["m[None], 0"], "stack": ["[v, s], 1"], "std": ["m", "m, 1", "m, correction=0"],
    "swapaxes": ["x, 0, 1"], "take": ["m, lib.tensor([0, 4])"], "tensordot": ["q, q, 1"],
    "tile": ["v, (2,)", "m, (2, 1)"], "trace": ["m"], "transpose": ["m, 0, 1", "x, 0, 2"],
    "trapezoid": ["v, s", "v, dx=2"], "tril": ["m", "m, 1"], "tril_indices": ["3, 3", "3, 4, 1"],
    "triu": ["m"], "triu_indices": ["3, 3"], "unique": ["r", "r, return_counts=True"],
    "unravel_index": ["lib.tensor([5, 1]), (2, 3)"], "vander": ["v", "v, 2"],
    "var": ["m", "m, dim=1"], "vdot": ["v, s"], "vsplit": ["m, 2"], "vstack": ["[v, s]"],
    "where": ["m > 2, m, 0.0", "m > 2"], "zeros": ["2, 3"], "zeros_like": ["m"],
    "real": ["c"], "conj": ["c"], "reciprocal": ["i"], "sign": ["i"], "square": ["i", "b"],
    "add": ["i, 1.5", "f, i", "v, s, alpha=2"], "true_divide": ["i, 2"], "logical_and": ["b, b"],
    "float_power": ["i, 2"], "imag": ["c"], "fix": ["v"], "heaviside": ["v, s"],
    "atan2": ["v, s"],
}  # fmt: skip
for data, listed in [*UNARY.items(), *BINARY.items()]:
    for name in listed.split():
        if name not in _NOT_HERE:
            CALLS.setdefault(name, []).insert(0, data)
CALLS["heaviside"] = ["v, s"]
CALLS["equal"].remove("v, s")
CALLS["equal"].append("v, s")

#: Where the two libraries' scalars, not tensors, come out.
EXPRESSIONS: dict[str, list[str]] = {
    "e": ["lib.e"], "pi": ["lib.pi"], "inf": ["lib.inf"], "nan": ["lib.isnan(lib.tensor(lib.nan))"],
    "newaxis": ["v[:, lib.newaxis]"], "finfo": ["lib.finfo(lib.float32).eps"],
    "iinfo": ["lib.iinfo(lib.int8).max"], "dtype": ["isinstance(v.dtype, lib.dtype)"],
    "typename": ["lib.typename(3)"],
    "set_printoptions": ["lib.set_printoptions(precision=4)"],
}  # fmt: skip
for _name in """bool complex128 complex64 float16 float32 float64 half double cdouble int8 int16
        int32 int64 uint8 uint16 uint32 uint64 short long""".split():
    EXPRESSIONS[_name] = [f"lib.zeros(2, dtype=lib.{_name})"]
