"""Operators that torchvision's compiled libraries declare: ``ops.torchvision``, ``ops.image``.

Those libraries are made for PyTorch's tensors and are not loaded. The operators exist without
torchvision, too; once it is imported, ``register`` makes it use them.

Reference:
    https://docs.pytorch.org/vision/stable/ops.html
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, NoReturn

from .. import dtypes
from ..core.tensor import Tensor
from ..dispatch.autocast import NoAutocast, is_autocast_enabled
from ..library.operator import Operator, register as register_operator
from ..library.schema import infer_schema, parse
from ..ops.nn.deformable import deform_conv2d
from ..ops.nn.regions import nms, ps_roi_align, ps_roi_pool, roi_align, roi_pool
from . import torchvision_images

#: Operators of torchvision's that are declared here without a kernel, and why.
_MISSING = {
    "torchvision": {
        "box_iou_rotated": "it is not implemented",
        **dict.fromkeys(("qnms", "qroi_align"), "tensors cannot be quantized"),
        **dict.fromkeys(
            (
                "_deform_conv2d_backward",
                "_ps_roi_align_backward",
                "_ps_roi_pool_backward",
                "_roi_align_backward",
                "_roi_pool_backward",
            ),
            "autograd computes the gradients",
        ),
    },
    "image": dict.fromkeys(
        ("decode_jpegs_cuda", "encode_jpegs_cuda"), "images are decoded and encoded on the CPU"
    ),
}


class _DifferentiableOperator(Operator):
    """Operator whose kernel is made of recorded operations."""

    def register_autograd(self, backward: Any, setup_context: Any) -> None:
        """Do nothing: torchvision's formulas call kernels of its compiled library."""


class _MissingOperator(_DifferentiableOperator):
    """Operator without a kernel."""

    #: Why there is none.
    reason: str

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = self.schema.operator.replace("::", ".")
        raise NotImplementedError(f"ops.{name}: {self.reason}")


def _cuda_version() -> int:
    """Return the version of CUDA that torchvision was compiled with: -1 for none."""
    return -1


_OPERATORS = {
    "torchvision": (nms, roi_align, roi_pool, ps_roi_align, ps_roi_pool, deform_conv2d),
    "image": torchvision_images.OPERATORS,
}


def declare(library: str) -> None:
    """Declare the operators ``ops.torchvision`` or ``ops.image``."""
    for function in _OPERATORS[library]:
        kernel = _compute_in_float32(function) if library == "torchvision" else function
        _declare(library, function, kernel)
    if library == "torchvision":
        _declare(library, _cuda_version, _cuda_version)
    for name, reason in _MISSING[library].items():
        _declare_missing(library, name, reason)


def _declare(library: str, function: Callable[..., Any], kernel: Callable[..., Any]) -> None:
    """Declare an operator with the name and the schema of ``function``."""
    schema = infer_schema(function, mutates_args=())
    name, declared = parse(library, f"{function.__name__}{schema}")
    operator = _DifferentiableOperator(declared, opaque=False)
    operator.add_kernel(None, kernel)
    register_operator(operator, name, library)


def _declare_missing(library: str, missing: str, reason: str) -> None:
    """Declare an operator that raises NotImplementedError."""
    name, declared = parse(library, f"{missing}(Tensor input) -> Tensor")
    operator = _MissingOperator(declared, opaque=False)
    operator.reason = reason
    register_operator(operator, name, library)


def _compute_in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` that computes in float32 under autocast, and float16 always.

    Floating-point results have the dtype of the first argument.
    """

    @wraps(function)
    def call(*args: Any) -> Any:
        first, *others = (each for each in args if isinstance(each, Tensor))
        is_half = all(each.dtype is dtypes.float16 for each in (first, *others))
        if not is_half and not is_autocast_enabled(first.device.type):
            return function(*args)
        with NoAutocast():
            found = function(*map(_widen, args))
        if isinstance(found, tuple):
            return found[0].to(first.dtype), *found[1:]
        return found.to(first.dtype) if found.is_floating_point() else found

    return call


def _widen(value: Any) -> Any:
    """Return a floating-point tensor in float32 at least, and any other value unchanged."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return value
    return value if value.dtype is dtypes.float64 else value.float()


def register(module: ModuleType) -> None:
    """Have torchvision call the operators here, unless it runs on PyTorch itself.

    Args:
        module: ``torchvision.extension``, which says whether there are operators, or
            ``torchvision.io.image``, which says whether there are those of images.
    """
    if vars(module)["torch"].Tensor is not Tensor:
        return
    name = "_has_ops" if module.__name__ == "torchvision.extension" else "_has_image_ops"
    setattr(module, name, lambda: True)
