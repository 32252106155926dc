"""Random tensors: creation, and sampling from given parameters.

The numbers are PyTorch's for the same seed; see ``backends/torch_mt19937.py``. The
``*_like`` forms are in ``sampling_like.py``, the in-place ones in ``inplace.py``.

Random tensors of another tensor's shape, dtype and order in memory.

Random numbers of events: Poisson and binomial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.layout import check_layout
from ...core.tensor import Tensor, wrap
from ...dispatch.creation import backend_for, checked_size, creation, pinned
from ...dispatch.op import OPS, Array, Backend, Out, Overlap, Shape, composite, op
from ...dispatch.out import check_out, refuse_recorded, scalar_name, write_to_out
from ...graph.special_nodes import without_slope
from ...graph.views import edge_of
from ...state import default_dtype, grad_enabled, no_grad
from ..checks import integer
from ..memory_order import in_order, in_rows, order_like
from ..shape.strides import broadcast_tensors
from .inplace import check_normal, check_probability, engine_of, integers, not_implemented


@creation
def rand(xp: Backend, size: Shape, *, generator: Any = None, dtype: Any = None) -> Array:
    """Numbers drawn uniformly from ``[0, 1)``.

    Args:
        size: The shape, as a sequence or as ints one by one.
        generator: A ``Generator``. Default: the default one.
        dtype: A float or complex dtype. Default: the default dtype.

    Returns:
        Tensor of shape ``size``; torch's numbers for the same seed, exactly.

    Raises:
        NotImplementedError: For an integer dtype.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.rand(3)
        tensor([0.4963, 0.7682, 0.0885])
    """
    if dtype.kind not in "fcV":
        raise not_implemented("rand", "check_uniform_bounds", dtype)
    return engine_of("rand", xp, generator).uniform(size, dtype)


@creation
def randn(xp: Backend, size: Shape, *, generator: Any = None, dtype: Any = None) -> Array:
    """Numbers drawn from the normal distribution of mean 0 and variance 1.

    Args:
        size: The shape, as a sequence or as ints one by one.
        generator: A ``Generator``. Default: the default one.
        dtype: A float or complex dtype; the parts of a complex number have variance 1/2
            each. Default: the default dtype.

    Returns:
        Tensor of shape ``size``; torch's numbers for the same seed, but for rounding.

    Raises:
        NotImplementedError: For an integer dtype.

    Example:
        >>> import tinytorch as tt
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
    """Integers drawn uniformly from ``low`` up to but not including ``high``.

    ``randint(high, size)`` and ``randint(low, high, size)``.

    Args:
        low: The lowest; default 0.
        high: One above the highest.
        size: The shape, a tuple of ints.
        generator: A ``Generator``. Default: the default one.
        dtype: Any dtype but a complex one. Default: int64.

    Returns:
        Tensor of shape ``size``; torch's numbers for the same seed, exactly.

    Raises:
        RuntimeError: If there is no integer in the range, or ``dtype`` does not hold it.
        TypeError: If ``size`` is no tuple or list.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.randint(3, 10, (4,))
        tensor([7, 6, 3, 5])
    """
    low, high, size = _read_bounds("randint", low, high, size)
    native = dtypes.int64.dtype if dtype is None else dtype
    engine = engine_of("randint", xp, generator)
    return integers("randint", engine, checked_size("randint", size), native, low, high)


def _read_bounds(name: str, low: Any, high: Any, size: Any) -> tuple[int, int, Any]:
    """``(high, size)`` or ``(low, high, size)``, whichever was given, ``size`` maybe by name."""
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
    return integer(name, "low", low), integer(name, "high", high), size


@creation(default_dtype=False)
def randperm(xp: Backend, n: int, *, generator: Any = None, dtype: Any = None) -> Array:
    """The integers from 0 to ``n - 1`` in random order.

    Args:
        n: How many; at least 0.
        generator: A ``Generator``. Default: the default one.
        dtype: Default: int64.

    Returns:
        Tensor of shape ``(n,)``; torch's numbers for the same seed, exactly.

    Raises:
        RuntimeError: If ``n`` is negative, or ``dtype`` does not hold ``n``.
        NotImplementedError: For a bool or complex dtype.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.randperm(4)
        tensor([0, 1, 3, 2])
    """
    count = integer("randperm", "n", n)
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
    """Ones and zeros: one with the probability that ``input`` gives.

    Args:
        input: Probabilities, a float tensor of any shape.
        p: One probability for all elements, of which ``input`` is then only the shape and
            dtype.
        generator: A ``Generator``. Default: the default one.
        out: Where to write the result.

    Returns:
        Tensor of ``input``'s shape and dtype; its gradient is zero.

    Raises:
        RuntimeError: If a probability is not in ``[0, 1]``.
        NotImplementedError: If ``input`` holds integers.

    Example:
        >>> import tinytorch as tt
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
    """Indices drawn with the probabilities that rows of weights give.

    Args:
        input: Weights of shape ``(n,)`` or ``(rows, n)``, a float tensor; they need not sum
            to 1.
        num_samples: How many indices per row.
        replacement: Whether an index may come more than once.
        generator: A ``Generator``. Default: the default one.
        out: Where to write the result.

    Returns:
        int64 tensor of shape ``(num_samples,)`` or ``(rows, num_samples)``.

    Raises:
        RuntimeError: For another shape or dtype, for weights that are negative, infinite,
            NaN or all zero in a row, and for more samples than there are to be had.

    Example:
        >>> import tinytorch as tt
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
    return in_rows(xp, drawn)


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
    """Normal numbers, each with the mean and standard deviation given for its place.

    Args:
        mean: A number, or a float tensor.
        std: A number, or a tensor; default 1.
        size: The shape, where both are numbers.
        generator: A ``Generator``. Default: the default one.
        out: Where to write the result.
        dtype: Where both are numbers, a float or complex dtype. Default: the default dtype.
        layout: ``strided``, which is the default.
        device: Where both are numbers: where. Default: the active backend's.
        pin_memory: Whether it lies in pinned memory; only on the CPU, where there is a GPU.
        requires_grad: Whether the result is a leaf whose gradient is wanted.
        backend: A backend or its name; overrides the active one.

    Returns:
        Tensor of shape ``size``, or of the broadcast shape of ``mean`` and ``std``.

    Raises:
        RuntimeError: If a standard deviation is negative, or the shapes do not broadcast.
        TypeError: If both are numbers and ``size`` is missing.

    Example:
        >>> import tinytorch as tt
        >>> _ = tt.manual_seed(0)
        >>> tt.normal(tt.tensor([0.0, 10.0]), tt.tensor([1.0, 0.1]))
        tensor([1.5410, 9.9707])
    """
    check_layout("normal", layout)
    if size is not None:  # then a tensor stands for its number
        mean, std = (_number(v) for v in (mean, std))
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        if dtype is not None:
            raise TypeError(
                "normal() received an invalid combination of arguments: dtype is for a mean and "
                "std that are numbers"
            )
        result = _normal_of(mean, std, generator)
    else:
        if size is None:
            raise TypeError("normal() missing required argument 'size': mean and std are numbers")
        check_normal("normal", std)
        result = _normal_sized(mean, std, size, generator, dtype, device, backend)
        result = pinned(result) if pin_memory else result
    if out is not None:
        check_out(OPS["normal"], out, (mean, std))
        if dtype is not None and result.dtype is not out.dtype:
            raise RuntimeError(
                f"normal: dtype {scalar_name(result.dtype)} does not match dtype of out parameter "
                f"({scalar_name(out.dtype)})"
            )
        given = [t for t in (mean, std) if isinstance(t, Tensor)]
        if grad_enabled() and any(t.requires_grad for t in given):
            refuse_recorded(OPS["normal"])
        return write_to_out(out, result, OPS["normal"])  # type: ignore[no-any-return]
    return result.requires_grad_() if requires_grad else result


def _number(value: Any) -> Any:
    """A number for a tensor of no dimensions; TypeError for one that has some."""
    if not isinstance(value, Tensor):
        return value
    if value.ndim:
        raise TypeError(
            "normal() received an invalid combination of arguments: with a size, mean and std "
            f"must be numbers, not a tensor of shape {list(value.shape)}"
        )
    return value.item()


def _all_non_negative(std: Tensor) -> bool:
    return bool((std._data >= 0).all())


def _normal_of(mean: Any, std: Any, generator: Any) -> Tensor:
    if isinstance(std, Tensor):
        if std.is_complex():
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if not _all_non_negative(std):
            raise RuntimeError("normal expects all elements of std >= 0.0")
    else:
        check_normal("normal", std)
    drawn: Tensor = mean if isinstance(mean, Tensor) else std
    if not (drawn.is_floating_point() or drawn.is_complex()):
        raise not_implemented("normal", "normal_kernel_cpu", drawn._data.dtype)
    return _pass_zeros(_draw_normal(drawn, mean, std, generator), mean, std)


def _draw_normal(like: Tensor, mean: Any, std: Any, generator: Any) -> Tensor:
    """Normal numbers of the dtype of ``like``, scaled and moved in steps that round, as PyTorch's.

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
    """``result``, through which tensors that require grad get gradients of zeros."""
    for tensor in given if grad_enabled() else ():
        if isinstance(tensor, Tensor) and tensor.requires_grad:
            result._node = without_slope(result, edge_of(result), edge_of(tensor))
            result._rg = True
    return result


def _normal_sized(
    mean: float, std: float, size: Any, generator: Any, dtype: Any, device: Any, backend: Any
) -> Tensor:
    xp = backend_for(device, backend)
    wanted = default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    if wanted.category < 2:
        raise not_implemented("normal", "normal_kernel_cpu", wanted)
    shape = checked_size("normal", size)
    engine = engine_of("normal", xp, generator)
    return wrap(engine.normal(shape, xp.native_dtype(wanted), mean, std), xp)


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


@op
def poisson(xp: Backend, input: Array, generator: Any = None) -> Array:
    """Numbers of events, drawn for each rate in ``input`` from its Poisson distribution.

    Args:
        input: Rates, a float tensor of any shape.
        generator: A ``Generator``. Default: the default one.

    Returns:
        Tensor of ``input``'s shape and dtype; for the same seed PyTorch's numbers. Its gradient
        is zero.

    Raises:
        RuntimeError: If a rate is negative or NaN.
        NotImplementedError: If ``input`` holds no real floating-point numbers.

    Example:
        >>> import tinytorch as tt
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
    """Numbers of successes, drawn for each number of trials and chance of success.

    Args:
        count: Numbers of trials, a float tensor of any shape.
        prob: Chances, of the same dtype; broadcast with ``count``.
        generator: A ``Generator``. Default: the default one.

    Returns:
        Tensor of the broadcast shape and that dtype; for the same seed PyTorch's numbers in
        float64, and save for rounding in float32. No gradient flows back.

    Raises:
        ValueError: If ``count`` holds no real floating-point numbers.
        RuntimeError: If the dtypes differ.
        NotImplementedError: For halves.

    Example:
        >>> import tinytorch as tt
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
