"""PyTorch's functions for other kinds of tensors: quantized, nested, on other devices, with blocks.

Predicates return the same as PyTorch's for a dense tensor. Functions that create or require another
kind raise an error that says that it is not supported; of sparse tensors these are the layouts with
blocks, rare products and copies of their parts.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..linalg.matmul import mm

# -- unsupported operations ------------------------------------------------------------------------

#: Error texts of unsupported kinds of tensors.
_SPARSE = "of the sparse layouts COO, CSR and CSC are supported, and not this operation"
_QUANTIZED = "quantized tensors are not supported"
_NESTED = "nested tensors are not supported: every tensor has one shape"
_MKLDNN = "MKL-DNN's layout is not supported: every tensor is strided"
_HALVES = "complex numbers of two halves (complex32) are not supported"
#: Top-level functions.
_FUNCTIONS = {
    _SPARSE: "hspmm hsmm saddmm sparse_bsc_tensor sparse_bsr_tensor",
    _QUANTIZED: "choose_qparams_optimized fake_quantize_per_channel_affine "
    "fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant quantize_per_channel "
    "quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell "
    "quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d "
    "quantized_rnn_relu_cell quantized_rnn_tanh_cell",
}
#: Methods of tensors.
_METHODS = {
    _SPARSE: "sparse_resize_ sparse_resize_and_clear_ to_sparse_bsc to_sparse_bsr",
    _QUANTIZED: "qscheme",
    _NESTED: "to_padded_tensor",
    _MKLDNN: "to_mkldnn",
}
#: Operations that are functions and methods.
_BOTH = {
    _SPARSE: "resize_as_sparse_ smm sspaddmm",
    _QUANTIZED: "int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points "
    "q_scale q_zero_point",
    _HALVES: "chalf",
}
#: Functions of sparse tensors alone, by PyTorch's error for other tensors.
_SPARSE_COPIES = {
    "sparse coordinate tensor layout": "indices",
    "sparse tensor layout": "values",
    "sparse row compressed tensor layout": "crow_indices col_indices",
    "sparse column compressed tensor layout": "ccol_indices row_indices",
}


def _define_unsupported(name: str, error: type[Exception], text: str, **options: Any) -> None:
    """Define a function or method ``name`` that raises ``error`` with ``text``.

    It is a method of tensors if there are ``options``, which are passed to ``composite``.
    """

    def function(*args: Any, **given: Any) -> NoReturn:
        raise error(text)

    def method(input: Tensor, *args: Any, **given: Any) -> NoReturn:
        raise error(text)

    unsupported = method if options else function
    call = f"tt.{name}()" if unsupported is function else f"tt.ones(2).{name}()"
    unsupported.__name__ = name
    first = "" if unsupported is function else "input: Tensor of any shape.\n        "
    unsupported.__doc__ = f"""Raise {error.__name__}: {text}.

    Args:
        {first}*args: Whatever is given: it is not looked at.
        **given: The same by name.

    Raises:
        {error.__name__}: At every call.

    Example:
        >>> {call}
        Traceback (most recent call last):
        ...
        {error.__name__}: {text}
    """
    composite(unsupported, **options)


for _table, _options in (
    (_FUNCTIONS, {}),
    (_METHODS, {"namespaces": ("Tensor",)}),
    (_BOTH, {"method": True}),
):
    for _text, _names in _table.items():
        for _name in _names.split():
            _define_unsupported(_name, NotImplementedError, f"{_name}: {_text}", **_options)
for _layout, _names in _SPARSE_COPIES.items():
    for _name in _names.split():
        _text = f"{_name} expected {_layout} but got Strided"
        _define_unsupported(f"{_name}_copy", RuntimeError, _text)


# -- predicates and properties of any tensor -------------------------------------------------------


def _define_false_attribute(name: str, reason: str) -> None:
    """Define an attribute of tensors that is always False."""

    def attribute(input: Tensor) -> bool:
        return False

    attribute.__name__ = name
    attribute.__doc__ = f"""False: {reason}.

    Example:
        >>> tt.ones(1).{name}
        False
    """
    composite(attribute, namespaces=("Tensor",), attribute=True)


for _name in ("ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu"):
    _define_false_attribute(f"is_{_name}", "there is no such device")
for _name, _text in (
    ("is_mkldnn", _MKLDNN), ("is_nested", _NESTED),
    ("is_sparse_csr", "the tensor is dense"),
):  # fmt: skip
    _define_false_attribute(_name, _text)


@composite(method=True)
def is_distributed(input: Tensor) -> bool:
    """Whether a tensor is distributed over processes: always False.

    Example:
        >>> tt.is_distributed(tt.ones(1))
        False
    """
    return False


@composite(method=True)
def dequantize(input: Tensor) -> Tensor:
    """Convert ``input`` to float32, as PyTorch does for a tensor that is not quantized.

    Example:
        >>> tt.dequantize(tt.tensor([1, 2]))
        tensor([1., 2.])
    """
    return input.to(dtypes.float32)


# -- products with a sparse matrix -----------------------------------------------------------------


@composite(like=mm)
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """``mm``; the first matrix may be sparse.

    Example:
        >>> tt.spmm(tt.eye(2), tt.tensor([[1.0], [2.0]]))
        tensor([[1.],
                [2.]])
    """
    return mm(input, mat2)


@composite(like=mm)
def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """``mm``; one of the matrices may be sparse.

    Example:
        >>> tt.dsmm(tt.eye(2), tt.tensor([[1.0], [2.0]]))
        tensor([[1.],
                [2.]])
    """
    return mm(input, mat2)
