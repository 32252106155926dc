"""Creation of random tensors, and sampling from distributions with given parameters.

With the same seed the numbers are PyTorch's; see ``backends/rng``. The in-place forms are in
``inplace.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.layout import check_layout
from ...core.tensor import Tensor, wrap
from ...dispatch.creation import backend_for, check_size, copy_to_pinned, creation
from ...dispatch.op import OPS, Array, Backend, Out, Overlap, Shape, composite, op
from ...dispatch.out import check_out, raise_recorded, scalar_name, write_to_out
from ...graph.special_nodes import zero_derivative_node
from ...graph.views import edge_of
from ...state import default_dtype, grad_enabled, no_grad
from ..checks import as_int
from ..memory_order import as_row_major, draw_in_order, memory_order_like
from ..shape.strides import broadcast_tensors
from .inplace import check_normal, check_probability, engine_of, integers, not_implemented


@creation
def rand(xp: Backend, size: Shape, *, generator: Any = None, dtype: Any = None) -> Array:
    """Samples of the uniform distribution on ``[0, 1)``.

    Args:
        size: The shape, as a sequence or as ints one by one.
        generator: A ``Generator``. Default: the default generator.
        dtype: A float or complex dtype. Default: the default dtype.

    Returns:
        Tensor of shape ``size``; with the same seed, exactly torch's numbers.

    Raises:
        NotImplementedError: For an integer dtype.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.rand(3)
        tensor([0.4963, 0.7682, 0.0885])
    """
    if dtype.kind not in "fcV":
        raise not_implemented("rand", "check_uniform_bounds", dtype)
    return engine_of("rand", xp, generator).uniform(size, dtype)


@creation
def randn(xp: Backend, size: Shape, *, generator: Any = None, dtype: Any = None) -> Array:
    """Samples of the standard normal distribution.

    Args:
        size: The shape, as a sequence or as ints one by one.
        generator: A ``Generator``. Default: the default generator.
        dtype: A float or complex dtype. The real and the imaginary part of a complex number have
            variance 1/2 each. Default: the default dtype.

    Returns:
        Tensor of shape ``size``; with the same seed, torch's numbers up to rounding.

    Raises:
        NotImplementedError: For an integer dtype.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.randn(3)
        tensor([ 1.5410, -0.2934, -2.1788])
    """
    if dtype.kind not in "fcV":
        raise not_implemented("randn", "normal_kernel_cpu", dtype)
    return engine_of("randn", xp, generator).normal(size, dtype)


@creation(default_dtype=False)
def randint(
    xp: Backend,
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
) -> Array:
    """Integers drawn uniformly from ``[low, high)``.

    The forms are ``randint(high, size)`` and ``randint(low, high, size)``.

    Args:
        low: The lowest integer; default 0.
        high: One above the highest integer.
        size: The shape, a tuple of ints.
        generator: A ``Generator``. Default: the default generator.
        dtype: Any dtype except complex ones. Default: int64.

    Returns:
        Tensor of shape ``size``; with the same seed, exactly torch's numbers.

    Raises:
        RuntimeError: If the range is empty, or ``dtype`` cannot represent it.
        TypeError: If ``size`` is not a tuple or list.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.randint(3, 10, (4,))
        tensor([7, 6, 3, 5])
    """
    low, high, size = _read_bounds("randint", low, high, size)
    native = dtypes.int64.dtype if dtype is None else dtype
    engine = engine_of("randint", xp, generator)
    return integers("randint", engine, check_size("randint", size), native, low, high)


def _read_bounds(name: str, low: Any, high: Any, size: Any) -> tuple[int, int, Any]:
    """Read the arguments ``(high, size)`` or ``(low, high, size)``."""
    if size is None and isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None and low:
        low, high = 0, low
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'size' must be tuple of ints, not {type(size).__name__}"
        )
    if low.__class__ is int is high.__class__:
        return low, high, size
    return as_int(name, "low", low), as_int(name, "high", high), size


@creation(default_dtype=False)
def randperm(xp: Backend, n: int, *, generator: Any = None, dtype: Any = None) -> Array:
    """The integers from 0 to ``n - 1`` in random order.

    Args:
        n: The number of integers; at least 0.
        generator: A ``Generator``. Default: the default generator.
        dtype: Default: int64.

    Returns:
        Tensor of shape ``(n,)``; with the same seed, exactly torch's numbers.

    Raises:
        RuntimeError: If ``n`` is negative, or ``dtype`` cannot represent ``n``.
        NotImplementedError: For a bool or complex dtype.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.randperm(4)
        tensor([0, 1, 3, 2])
    """
    count = as_int("randperm", "n", n)
    if count < 0:
        raise RuntimeError(
            f"randperm: Trying to create tensor with negative dimension {count}: [{count}]"
        )
    wanted = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    if wanted.kind in "bc":
        raise not_implemented("randperm", "randperm", wanted)
    if wanted.is_floating_point and count > 2 / dtypes.finfo(wanted).eps + 1:
        limit = int(2 / dtypes.finfo(wanted).eps) + 1
        raise RuntimeError(
            f"randperm: n cannot be greater than {limit} for {wanted.name} type, got {count}"
        )
    if wanted.kind in "ui" and count > dtypes.iinfo(wanted).max:
        raise RuntimeError(
            f"randperm: value cannot be converted to type {wanted.name} without overflow: {count}"
        )
    return engine_of("randperm", xp, generator).permutation(count, xp.native_dtype(wanted))


# -- from given parameters ---------------------------------------------------------------------


@op(method=True, out=Out.ANY, overlap=Overlap.CHECKED)
def bernoulli(
    xp: Backend,
    input: Array,
    p: float | None = None,
    *,
    generator: Any = None,
    out: Array | None = None,
) -> Array:
    """Samples of Bernoulli distributions: 1 with the probability in ``input``, otherwise 0.

    Args:
        input: Probabilities, a float tensor of any shape.
        p: One probability for all elements. In this case only the shape and dtype of ``input``
            are used.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        Tensor of ``input``'s shape and dtype; its gradient is zero.

    Raises:
        RuntimeError: If a probability is not in ``[0, 1]``.
        NotImplementedError: If ``input`` is an integer tensor.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.bernoulli(tt.tensor([0.1, 0.5, 0.9]))
        tensor([0., 0., 1.])
    """
    engine = engine_of("bernoulli", xp, generator)
    dtype = input.dtype
    if p is not None:
        check_probability("bernoulli_", p)
        return engine.bernoulli(float(p), input.shape, dtype)
    if dtype.kind != "f":
        raise not_implemented("bernoulli", "bernoulli_tensor_cpu_p_", dtype)
    return engine.bernoulli(input, input.shape, dtype)


bernoulli.vjp(input=lambda xp, g: xp.zeros_like(g))


@op(method=True, out=Out.EXACT)
def multinomial(
    xp: Backend,
    input: Array,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Any = None,
    out: Array | None = None,
) -> Array:
    """Indices drawn with probabilities proportional to the weights in each row.

    Args:
        input: Weights of shape ``(n,)`` or ``(rows, n)``, a float tensor. They need not sum to 1.
        num_samples: The number of indices for each row.
        replacement: Whether an index may be drawn more than once.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        int64 tensor of shape ``(num_samples,)`` or ``(rows, num_samples)``.

    Raises:
        RuntimeError: If shape or dtype is wrong, if weights are negative, infinite, NaN or all
            zero in a row, or if there are too few indices for so many samples.

    Example:
        >>> tt.multinomial(tt.tensor([0.0, 3.0, 0.0]), 2, replacement=True)
        tensor([1, 1])
    """
    if input.dtype.kind != "f":
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{dtypes.as_dtype(input.dtype).name}"
        )
    if input.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got shape {list(input.shape)}")
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got num_samples={num_samples}")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"num_samples={num_samples}, shape {list(input.shape)}"
        )
    drawn = engine_of("multinomial", xp, generator).multinomial(input, num_samples, replacement)
    return as_row_major(xp, drawn)


@composite(overlap=Overlap.CHECKED)
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    backend: Any = None,
) -> Tensor:
    """Samples of normal distributions with the given means and standard deviations.

    Args:
        mean: A number, or a float tensor.
        std: A number, or a tensor; default 1.
        size: The shape, if both are numbers.
        generator: A ``Generator``. Default: the default generator.
        dtype: A float or complex dtype, if both are numbers. Default: the default dtype.
        layout: ``strided``, which is the default.
        device: The device, if both are numbers. Default: that of the active backend.
        pin_memory: Whether to use pinned memory; only on the CPU, if there is a GPU.
        requires_grad: Whether the result is a leaf that requires grad.
        backend: A backend or its name, instead of the active one.

    Returns:
        Tensor of shape ``size``, or of the broadcast shape of ``mean`` and ``std``.

    Raises:
        RuntimeError: If a standard deviation is negative, or the shapes do not broadcast.
        TypeError: If both are numbers and ``size`` is missing.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.normal(tt.tensor([0.0, 10.0]), tt.tensor([1.0, 0.1]))
        tensor([1.5410, 9.9707])
    """
    check_layout("normal", layout)
    if size is not None:  # a 0-d tensor is then read as a number
        mean, std = (_to_number(v) for v in (mean, std))
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if dtype is not None:
            raise TypeError(
                "normal() received an invalid combination of arguments: dtype is for a mean and "
                "std that are numbers"
            )
        result = _normal_from_tensors(mean, std, generator)
    else:
        if size is None:
            raise TypeError("normal() missing required argument 'size': mean and std are numbers")
        check_normal("normal", std)
        result = _normal_of_size(mean, std, size, generator, dtype, device, backend)
        result = copy_to_pinned(result) if pin_memory else result
    if out is not None:
        check_out(OPS["normal"], out, (mean, std))
        if dtype is not None and result.dtype is not out.dtype:
            raise RuntimeError(
                f"normal: dtype {scalar_name(result.dtype)} does not match dtype of out parameter "
                f"({scalar_name(out.dtype)})"
            )
        given = [t for t in (mean, std) if isinstance(t, Tensor)]
        if grad_enabled() and any(t.requires_grad for t in given):
            raise_recorded(OPS["normal"])
        return write_to_out(out, result, OPS["normal"])  # type: ignore[no-any-return]
    return result.requires_grad_() if requires_grad else result


def _to_number(value: Any) -> Any:
    """Convert a 0-d tensor to a number; raise TypeError for a tensor with dimensions."""
    if not isinstance(value, Tensor):
        return value
    if value.ndim:
        raise TypeError(
            "normal() received an invalid combination of arguments: with a size, mean and std "
            f"must be numbers, not a tensor of shape {list(value.shape)}"
        )
    return value.item()


def _normal_from_tensors(mean: Any, std: Any, generator: Any) -> Tensor:
    """``normal`` with a tensor as mean, standard deviation or both."""
    if isinstance(std, Tensor):
        if std.is_complex():
            raise RuntimeError("normal expects standard deviation to be non-complex")
        std._xp.check_all(std._data >= 0, "normal expects all elements of std >= 0.0")
    else:
        check_normal("normal", std)
    drawn: Tensor = mean if isinstance(mean, Tensor) else std
    if not (drawn.is_floating_point() or drawn.is_complex()):
        raise not_implemented("normal", "normal_kernel_cpu", drawn._data.dtype)
    return _pass_zeros(_draw_normal(drawn, mean, std, generator), mean, std)


def _draw_normal(like: Tensor, mean: Any, std: Any, generator: Any) -> Tensor:
    """Normal numbers with the dtype of ``like``, which is ``mean`` or ``std``.

    They are scaled and then shifted; each step rounds, as in PyTorch.

    Raises:
        RuntimeError: If the shapes of ``mean`` and ``std`` do not broadcast.
    """
    xp = like._xp
    engine = engine_of("normal", xp, generator)
    with no_grad():
        if not isinstance(std, Tensor):
            return wrap(engine.normal(like.shape, like._data.dtype, 0.0, std), xp).add_(mean)
        shape = broadcast_tensors(like, std)[0].shape
        return wrap(engine.normal(shape, like._data.dtype), xp).mul_(std).add_(mean)


def _pass_zeros(result: Tensor, *given: Any) -> Tensor:
    """``result``, recorded with gradients of zeros for the tensors that require grad."""
    for tensor in given if grad_enabled() else ():
        if isinstance(tensor, Tensor) and tensor.requires_grad:
            result._node = zero_derivative_node(result, edge_of(result), edge_of(tensor))
            result._rg = True
    return result


def _normal_of_size(
    mean: float, std: float, size: Any, generator: Any, dtype: Any, device: Any, backend: Any
) -> Tensor:
    """``normal`` with numbers as mean and standard deviation, and a size."""
    xp = backend_for(device, backend)
    wanted = default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if wanted.category < 2:  # bool or integer
        raise not_implemented("normal", "normal_kernel_cpu", wanted)
    shape = check_size("normal", size)
    engine = engine_of("normal", xp, generator)
    return wrap(engine.normal(shape, xp.native_dtype(wanted), mean, std), xp)


def _draw_like(
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
    """Draw a tensor with the shape and the memory order of ``input``.

    Args:
        name: Name of the operation, for errors.
        input: Tensor whose dtype, device and memory order are the defaults.
        draw: Function ``(engine, shape, native dtype, contiguous)`` that returns the array.
            ``contiguous`` is whether the result will be row-major, on which PyTorch's algorithm for
            normal numbers depends.
        generator: A ``Generator``, or None for the default one.
        dtype: Another dtype, or None.
        device: Another device, or None.
        backend: Another backend, or None.
        pin_memory: Whether to use pinned memory.
        requires_grad: Whether the result requires grad.
        memory_format: Another memory order, or None.
    """
    xp = input._xp if device is None and backend is None else backend_for(device, backend)
    native = xp.native_dtype(input.dtype if dtype is None else dtypes.as_dtype(dtype))
    engine = engine_of(name, xp, generator)
    order, contiguous = memory_order_like(input._data, memory_format)
    data = draw_in_order(
        xp, input._data.shape, order, lambda shape: draw(engine, shape, native, contiguous)
    )
    out = wrap(data, xp)
    out = copy_to_pinned(out) if pin_memory else out
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
    """Samples of the uniform distribution on ``[0, 1)``, with the shape and dtype of ``input``.

    Args:
        input: Tensor of any shape.
        generator: A ``Generator``. Default: the default generator.
        dtype: The dtype. Default: that of ``input``.
        layout: ``strided``, which is the default.
        device: The device. Default: that of ``input``.
        pin_memory: Whether to use pinned memory; only on the CPU, if there is a GPU.
        requires_grad: Whether the result is a leaf that requires grad.
        memory_format: Order of the elements in memory. Default: that of ``input``.
        backend: A backend or its name. Default: that of ``input``.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        NotImplementedError: For an integer dtype.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.rand_like(tt.zeros(2))
        tensor([0.4963, 0.7682])
    """
    check_layout("rand_like", layout)

    def draw(engine: Any, shape: Any, native: Any, contiguous: bool) -> Array:
        if native.kind not in "fcV":
            raise not_implemented("rand_like", "check_uniform_bounds", native)
        return engine.uniform(shape, native)

    return _draw_like(
        "rand_like", input, draw, generator, dtype, device, backend, pin_memory, requires_grad,
        memory_format,
    )  # fmt: skip


@composite(like=rand_like)
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
    """Samples of the standard normal distribution, with the shape of ``input``.

    Returns:
        Tensor of ``input``'s shape.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.randn_like(tt.zeros(2))
        tensor([ 1.5410, -0.2934])
    """
    check_layout("randn_like", layout)

    def draw(engine: Any, shape: Any, native: Any, contiguous: bool) -> Array:
        if native.kind not in "fcV":
            raise not_implemented("randn_like", "normal_kernel_cpu", native)
        return engine.normal(shape, native, contiguous=contiguous)

    return _draw_like(
        "randn_like", input, draw, generator, dtype, device, backend, pin_memory, requires_grad,
        memory_format,
    )  # fmt: skip


@composite(like=rand_like)
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
    """Integers drawn uniformly from ``[low, high)``, with the shape of ``input``.

    The forms are ``randint_like(input, high)`` and ``randint_like(input, low, high)``.

    Args:
        low: The lowest integer; default 0.
        high: One above the highest integer.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If the range is empty, or the dtype cannot represent it.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.randint_like(tt.zeros(3), 10)
        tensor([4., 9., 3.])
    """
    check_layout("randint_like", layout)
    bounds = (0, low) if high is None else (low, high)
    first, last = (as_int("randint_like", "high", bound) for bound in bounds)

    def draw(engine: Any, shape: Any, native: Any, contiguous: bool) -> Array:
        return integers("randint_like", engine, shape, native, first, last)

    return _draw_like(
        "randint_like", input, draw, generator, dtype, device, backend, pin_memory, requires_grad,
        memory_format,
    )  # fmt: skip


@op
def poisson(xp: Backend, input: Array, generator: Any = None) -> Array:
    """Samples of Poisson distributions, one for each rate in ``input``.

    Args:
        input: Rates, a float tensor of any shape.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        Tensor of ``input``'s shape and dtype; with the same seed, PyTorch's numbers. Its gradient
        is zero.

    Raises:
        RuntimeError: If a rate is negative or NaN.
        NotImplementedError: If ``input`` is not a real floating-point tensor.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.poisson(tt.tensor([0.0, 3.0, 100.0]))
        tensor([ 0.,  6., 96.])
    """
    if input.dtype.kind != "f":
        raise not_implemented("poisson", "poisson_cpu", input.dtype)
    return engine_of("poisson", xp, generator).poisson(input)


poisson.vjp(input=lambda xp, g: xp.zeros_like(g))


@op
def binomial(xp: Backend, count: Array, prob: Array, generator: Any = None) -> Array:
    """Samples of binomial distributions with given numbers of trials and probabilities.

    Args:
        count: Numbers of trials, a float tensor of any shape.
        prob: Probabilities of success, of the same dtype; broadcast with ``count``.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        Tensor of the broadcast shape and that dtype; with the same seed, PyTorch's numbers in
        float64, and up to rounding in float32. It is not differentiable.

    Raises:
        ValueError: If ``count`` is not a real floating-point tensor.
        RuntimeError: If the dtypes differ.
        NotImplementedError: If the dtype is float16.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.binomial(tt.tensor([10.0, 10.0, 10.0]), tt.tensor([0.0, 0.5, 1.0]))
        tensor([ 0.,  7., 10.])
    """
    shown = scalar_name(xp.dtype_of(count))
    if count.dtype.kind != "f":
        raise ValueError(f"binomial only supports floating-point dtypes for count, got: {shown}")
    if prob.dtype != count.dtype:
        found = scalar_name(xp.dtype_of(prob))
        raise RuntimeError(f"binomial: Found dtype {found} but expected {shown}")
    if shown == "Half":
        raise not_implemented("binomial", "binomial_cpu", count.dtype)
    return engine_of("binomial", xp, generator).binomial(count, prob)
