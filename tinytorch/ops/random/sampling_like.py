"""Random tensors of another tensor's shape, dtype and order in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.layout import check_layout
from ...core.tensor import Tensor, wrap
from ...dispatch.creation import backend_for, pinned
from ...dispatch.op import Array, composite
from ..checks import integer
from ..memory_order import in_order, order_like
from .drawing import engine_of, integers, not_implemented


def _like(
    name: str,
    input: Tensor,
    draw: Callable[[Any, Any, Any, bool], Any],
    generator: Any,
    dtype: Any,
    device: Any,
    backend: Any,
    pin_memory: bool,
    requires_grad: bool,
    memory_format: Any,
) -> Tensor:
    """A tensor of ``input``'s shape, drawn in the order in which it lies in memory: the input's.

    ``draw(engine, shape, dtype, contiguous)`` makes the array.
    """
    xp = input._xp if device is None and backend is None else backend_for(device, backend)
    native = xp.native_dtype(input.dtype if dtype is None else dtypes.as_dtype(dtype))
    engine = engine_of(name, xp, generator)
    order, contiguous = order_like(input._data, memory_format)
    data = in_order(
        xp, input._data.shape, order, lambda shape: draw(engine, shape, native, contiguous)
    )
    out = wrap(data, xp)
    out = pinned(out) if pin_memory else out
    return out.requires_grad_() if requires_grad else out


@composite
def rand_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
    backend: Any = None,
) -> Tensor:
    """Numbers drawn uniformly from ``[0, 1)``, as many and of the dtype of ``input``.

    Args:
        input: Tensor of any shape.
        generator: A ``Generator``. Default: the default one.
        dtype: Default: ``input``'s.
        layout: ``strided``, which is the default.
        device: Where. Default: where ``input`` is.
        pin_memory: Whether it lies in pinned memory; only on the CPU, where there is a GPU.
        requires_grad: Whether the result is a leaf whose gradient is wanted.
        memory_format: In which order its elements lie in memory. Default: as ``input``'s.
        backend: A backend or its name. Default: ``input``'s.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        NotImplementedError: For an integer dtype.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.rand_like(tt.zeros(2))
        tensor([0.4963, 0.7682])
    """
    check_layout("rand_like", layout)

    def draw(engine: Any, shape: Any, native: Any, contiguous: bool) -> Array:
        if native.kind not in "fcV":
            raise not_implemented("rand_like", "check_uniform_bounds", native)
        return engine.uniform(shape, native)

    return _like(
        "rand_like", input, draw, generator, dtype, device, backend, pin_memory, requires_grad,
        memory_format,
    )  # fmt: skip


@composite
def randn_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
    backend: Any = None,
) -> Tensor:
    """Numbers drawn from the standard normal distribution, as many as ``input`` has.

    Args:
        input: Tensor of any shape.
        generator: A ``Generator``. Default: the default one.
        dtype: Default: ``input``'s.
        layout: ``strided``, which is the default.
        device: Where. Default: where ``input`` is.
        pin_memory: Whether it lies in pinned memory; only on the CPU, where there is a GPU.
        requires_grad: Whether the result is a leaf whose gradient is wanted.
        memory_format: In which order its elements lie in memory. Default: as ``input``'s.
        backend: A backend or its name. Default: ``input``'s.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        NotImplementedError: For an integer dtype.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.randn_like(tt.zeros(2))
        tensor([ 1.5410, -0.2934])
    """
    check_layout("randn_like", layout)

    def draw(engine: Any, shape: Any, native: Any, contiguous: bool) -> Array:
        if native.kind not in "fcV":
            raise not_implemented("randn_like", "normal_kernel_cpu", native)
        return engine.normal(shape, native, contiguous=contiguous)

    return _like(
        "randn_like", input, draw, generator, dtype, device, backend, pin_memory, requires_grad,
        memory_format,
    )  # fmt: skip


@composite
def randint_like(
    input: Tensor,
    low: int = 0,
    high: int | None = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
    backend: Any = None,
) -> Tensor:
    """Integers drawn uniformly from ``low`` to below ``high``, as many as ``input`` has.

    ``randint_like(input, high)`` and ``randint_like(input, low, high)``.

    Args:
        input: Tensor of any shape.
        low: The lowest; default 0.
        high: One above the highest.
        generator: A ``Generator``. Default: the default one.
        dtype: Default: ``input``'s.
        layout: ``strided``, which is the default.
        device: Where. Default: where ``input`` is.
        pin_memory: Whether it lies in pinned memory; only on the CPU, where there is a GPU.
        requires_grad: Whether the result is a leaf whose gradient is wanted.
        memory_format: In which order its elements lie in memory. Default: as ``input``'s.
        backend: A backend or its name. Default: ``input``'s.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If there is no integer in the range, or the dtype does not hold it.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.randint_like(tt.zeros(3), 10)
        tensor([4., 9., 3.])
    """
    check_layout("randint_like", layout)
    bounds = (0, low) if high is None else (low, high)
    first, last = (integer("randint_like", "high", bound) for bound in bounds)

    def draw(engine: Any, shape: Any, native: Any, contiguous: bool) -> Array:
        return integers("randint_like", engine, shape, native, first, last)

    return _like(
        "randint_like", input, draw, generator, dtype, device, backend, pin_memory, requires_grad,
        memory_format,
    )  # fmt: skip
