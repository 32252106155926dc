"""In-place random operations such as ``normal_`` and ``uniform_``, and helpers of all of them.

A tensor is filled in the order of its memory, as in torch. The result does not depend on the old
values, so no gradient flows to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ...core.lazy_bits import LazyView
from ...core.tensor import Tensor, wrap
from ...dispatch.inplace import call_inplace, write_resolved
from ...dispatch.op import OPS, Array, Backend, Reduced, composite, op
from ...dispatch.out import check_writable, scalar_name
from ...state import DRAWN, grad_enabled
from ...state import generator as generator_of
from ...warnings import warn
from ..checks import as_int
from ..memory_order import draw_in_order, memory_order


def engine_of(name: str, xp: Backend, generator: Any) -> Any:
    """Random engine of a call: the generator's, or that of the backend's default generator.

    Raises:
        TypeError: If ``generator`` is not a ``Generator``.
        RuntimeError: If the generator is for another backend.
    """
    recorded = xp.recorded
    default = generator_of(xp)
    engine = getattr(default, "_engine", None)  # raises inside vmap with randomness="error"
    if generator is None:
        return default if engine is None else engine
    engine = getattr(generator, "_engine", None)
    if engine is None:
        raise TypeError(
            f"{name}(): argument 'generator' must be Generator, not {type(generator).__name__}"
        )
    if generator.backend is not xp and generator.backend is not recorded:
        theirs = generator.backend
        if theirs.device_type == xp.device_type and theirs.name == xp.name:
            wanted = f"{xp.device_type}:{xp.device_index(xp.here().empty(0))}"
            raise RuntimeError(
                f"{name}: the generator is on {generator.device}, the numbers are wanted on "
                f"{wanted}"
            )
        raise RuntimeError(
            f"{name}: Expected a '{xp.device_type}' device type for generator but found "
            f"'{theirs.device_type}' (backends {xp.name} and {theirs.name})"
        )
    on_draw = DRAWN.get()
    if on_draw is not None:
        on_draw(engine)
    return engine if recorded is None else xp.drawing(engine)


# -- bounds of integers ----------------------------------------------------------------------


def limits(dtype: dtypes.dtype) -> tuple[int, int]:
    """The lowest and highest integer that a dtype can represent."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.is_floating_point:
        info = dtypes.finfo(dtype)
        return int(info.min), int(info.max)
    whole = dtypes.iinfo(dtype)
    return whole.min, whole.max


def integers(
    name: str, engine: Any, shape: Sequence[int], native: Any, low: int, high: int
) -> Array:
    """Draw integers in ``[low, high)`` with the dtype ``native``.

    Raises:
        RuntimeError: If the range is empty, or the dtype cannot represent it.

    Warns:
        UserWarning: If a float dtype cannot represent all integers of the range.
    """
    if low >= high:
        raise RuntimeError(
            f"{name}: random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if native.kind == "i" and native.itemsize == 8 and -(1 << 63) <= low and high <= 1 << 63:
        return engine.integers(low, high, shape, native)
    dtype = dtypes.as_dtype(native)
    if dtype.is_complex:
        raise RuntimeError(
            f"{name}: check_random_bounds handles only integral, floating-point and boolean "
            f"types, got {dtype.name}"
        )
    if dtype.is_floating_point:
        low, high = _round_low(low, dtype), _round_high(high, dtype)
    lowest, highest = limits(dtype)
    for bound, value in (("from", low), ("to - 1", high - 1)):
        if not lowest <= value <= highest:
            raise RuntimeError(f"{name}: {bound} is out of bounds for {dtype.name}: {value}")
        if dtype.is_floating_point:
            _warn_of_gaps(name, bound, value, dtype)
    return engine.integers(low, high, shape, native)


def _warn_of_gaps(name: str, bound: str, value: int, dtype: dtypes.dtype) -> None:
    """Warn if a float dtype does not represent all integers up to ``value``."""
    digits = _mantissa(dtype)
    if abs(value) > 1 << digits:
        warn(
            f"{name}: {bound} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
            f"limitations {dtype.name} can support discrete uniform distribution only within this "
            f"range; got {value}"
        )


def _mantissa(dtype: dtypes.dtype) -> int:
    """Number of bits of a float dtype's mantissa: 24 for float32."""
    return round(1 / dtypes.finfo(dtype).eps).bit_length()


def _round_high(high: int, dtype: dtypes.dtype) -> int:
    """Lower the upper bound to the next float if the last integer would round up to it."""
    rounded, step = _round_to_float(high - 1, dtype)
    return rounded - step if rounded >= high else high


def _round_low(low: int, dtype: dtypes.dtype) -> int:
    """Raise the lower bound to the next float if the integer after it would round below it."""
    rounded, step = _round_to_float(low + 1, dtype)
    return rounded + step if rounded < low else low


def _round_to_float(value: int, dtype: dtypes.dtype) -> tuple[int, int]:
    """Round ``value`` to a float of the dtype; also return the distance between floats there."""
    step = 1 << max(abs(value).bit_length() - _mantissa(dtype), 0)
    quotient, rest = divmod(value, step)
    if 2 * rest > step or (2 * rest == step and quotient % 2):
        quotient += 1
    return quotient * step, step


# -- checks -------------------------------------------------------------------------------------


def check_probability(name: str, p: Any) -> None:
    """Raise RuntimeError if ``p`` is not in ``[0, 1]``."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"{name} expects p to be in [0, 1], but got p={p}")


def check_normal(name: str, std: Any) -> None:
    """Raise RuntimeError if ``std`` is negative or NaN."""
    if not std >= 0:
        raise RuntimeError(f"{name}: normal expects std >= 0.0, but found std {std}")


def check_uniform(low: float, high: float, dtype: dtypes.dtype) -> None:
    """Raise RuntimeError unless ``[low, high)`` is a valid range of the dtype."""
    info = dtypes.finfo(dtype.to_real())
    for bound, value in (("from", low), ("to", high)):
        if not info.min <= value <= info.max:
            raise RuntimeError(f"uniform_: {bound} is out of bounds for {dtype.name}: {value}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    if high - low > info.max:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{scalar_name(dtype)}>::max(), but "
            f"found to={high} and from={low} which result in to-from to exceed the limit"
        )


def not_implemented(name: str, kernel: str, dtype: Any) -> NotImplementedError:
    """Build torch's error for a dtype that a random function does not support."""
    word = scalar_name(dtypes.as_dtype(dtype))
    return NotImplementedError(f"{name}: \"{kernel}\" not implemented for '{word}'")


@op(reduced=Reduced.NATIVE)
def _refill(xp: Backend, input: Array, values: Array) -> Array:
    return values


_refill.vjp(input=lambda xp, g: xp.zeros_like(g))


def _fill(
    input: Tensor, name: str, generator: Any, draw: Callable[[Any, Any, Any], Array]
) -> Tensor:
    """Fill ``input`` with random values, in the order of its memory.

    Args:
        input: The tensor, changed in place.
        name: Name of the operation without its underscore.
        generator: A ``Generator``, or None for the default one.
        draw: Function of the random engine, the shape and the native dtype that returns an array.
    """
    if isinstance(input, LazyView):
        return write_resolved(input, f"{name}_", lambda work: _fill(work, name, generator, draw))
    check_writable(name, input)
    xp, data = input._xp, input._data
    engine = engine_of(f"{name}_", xp, generator)
    if not xp.has_numbers:
        draw = _skip_draw(xp)
    if data.flags.c_contiguous:
        values = draw(engine, data.shape, data.dtype)
    else:
        order = memory_order(data)
        values = draw_in_order(xp, data.shape, order, lambda shape: draw(engine, shape, data.dtype))
    if grad_enabled() and input.requires_grad:
        node = f"{name.title().replace('_', '')}Backward{2 if name == 'bernoulli' else 0}"
        return call_inplace(OPS["_refill"], (input, wrap(values, xp)), {}, node)
    xp.copyto(data, values)
    input._bump()
    return input


def _skip_draw(xp: Backend) -> Callable[[Any, Any, Any], Array]:
    """Replacement of a draw on a backend whose values are never read."""
    return lambda engine, shape, dtype: xp.empty(shape, dtype)


def _check_continuous(name: str, distribution: str, dtype: dtypes.dtype) -> None:
    """Raise RuntimeError for a dtype that is not floating point."""
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"{name}: {distribution} distribution is a continuous probability distribution. dtype "
            f"must be a floating point but you specified {scalar_name(dtype)}"
        )


@composite(namespaces=("Tensor",))
def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill ``input`` with samples of a normal distribution, in place.

    Args:
        input: Tensor of a float or complex dtype.
        mean: The mean, for complex numbers of both parts; default 0.
        std: The standard deviation; default 1.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, torch's numbers up to rounding.

    Raises:
        RuntimeError: If ``std`` is negative.
        NotImplementedError: For an integer dtype.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(2).normal_(10.0, 0.1)
        tensor([10.1541,  9.9707])
    """
    check_normal("normal_", std)
    if input.dtype.category < 2:  # bool or integer
        raise not_implemented("normal_", "normal_kernel_cpu", input.dtype)
    contiguous = input.is_contiguous()
    return _fill(
        input, "normal", generator, lambda e, shape, dtype: e.normal(
            shape, dtype, float(mean), float(std), contiguous
        )
    )  # fmt: skip


@composite(namespaces=("Tensor",))
def uniform_(
    input: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None
) -> Tensor:
    """Fill ``input`` with numbers drawn uniformly from ``[from_, to)``, in place.

    Args:
        input: Tensor of a float or complex dtype.
        from_: The lower bound, by position since torch's name is a Python keyword; default 0.
        to: The upper bound; default 1.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, exactly torch's numbers.

    Raises:
        RuntimeError: If the bounds are not in order, or out of the dtype's range.
        NotImplementedError: For an integer dtype.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(2).uniform_(-1, 1)
        tensor([-0.0075,  0.5364])
    """
    if input.dtype.category < 2:  # bool or integer
        raise not_implemented("uniform_", "check_uniform_bounds", input.dtype)
    check_uniform(from_, to, input.dtype)
    return _fill(
        input, "uniform", generator,
        lambda e, shape, dtype: e.uniform(shape, dtype, float(from_), float(to)),
    )  # fmt: skip


@composite(namespaces=("Tensor",))
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill ``input`` with ones, with probability ``p``, and zeros, in place.

    Args:
        input: Tensor of any dtype except complex ones.
        p: A number, or a float tensor that broadcasts to ``input``'s shape; default 0.5.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, exactly torch's numbers.

    Raises:
        RuntimeError: If a probability is not in ``[0, 1]``.
        NotImplementedError: For a complex dtype, or probabilities that are integers.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(4).bernoulli_(0.9)
        tensor([0., 1., 1., 0.])
    """
    if input.is_complex():
        raise not_implemented("bernoulli_", "bernoulli_scalar_cpu_", input.dtype)
    if isinstance(p, Tensor):
        return _bernoulli_tensor(input, p, generator)
    check_probability("bernoulli_", p)
    return _fill(
        input, "bernoulli", generator, lambda e, shape, dtype: e.bernoulli(float(p), shape, dtype)
    )


def _bernoulli_tensor(input: Tensor, p: Tensor, generator: Any) -> Tensor:
    """``bernoulli_`` with a tensor of probabilities, which is broadcast to ``input``."""
    if not p.is_floating_point():
        raise not_implemented("bernoulli_", "bernoulli_tensor_cpu_p_", p.dtype)
    xp = input._xp
    probabilities = p._data if p._xp is xp else xp.from_numpy(p._xp.to_numpy(p._data))
    if probabilities.ndim > input.ndim or any(
        n not in (1, m) for n, m in zip(probabilities.shape[::-1], input.shape[::-1], strict=False)
    ):
        raise RuntimeError(
            f"bernoulli_: The expanded size of the tensor ({list(input.shape)}) must match the "
            f"existing size of p ({list(probabilities.shape)})"
        )
    order = memory_order(input._data)
    probabilities = xp.transpose(xp.broadcast_to(probabilities, input._data.shape), order)
    return _fill(
        input,
        "bernoulli",
        generator,
        lambda e, shape, dtype: e.bernoulli(probabilities, shape, dtype),
    )


@composite(namespaces=("Tensor",))
def random_(
    input: Tensor, from_: int | None = None, to: Any = ..., *, generator: Any = None
) -> Tensor:
    """Fill ``input`` with integers drawn uniformly, in place.

    ``random_()`` draws from 0 to what the dtype holds (a float dtype: without gaps),
    ``random_(to)`` from 0 to ``to - 1``, ``random_(from, to)`` from ``from`` to ``to - 1``,
    and with ``to=None`` up to what the dtype holds.

    Args:
        input: Tensor of any dtype except complex ones.
        from_: The lowest, by position (torch's name is a Python keyword).
        to: One above the highest.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, exactly torch's numbers.

    Raises:
        RuntimeError: If the range is empty, or the dtype cannot represent it.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(4).random_(10)
        tensor([4., 9., 3., 0.])
    """
    if input.is_complex():
        raise not_implemented("random_", "random_kernel_cpu", input.dtype)
    if from_ is None and to is ...:
        return _fill(input, "random", generator, lambda e, shape, dtype: e.bits(shape, dtype))
    if from_ is None or to is ...:
        low, high = 0, as_int("random_", "to", from_ if to is ... else to)
    else:
        low = as_int("random_", "from", from_)
        high = _default_high(input.dtype) if to is None else as_int("random_", "to", to)
    return _fill(
        input, "random", generator,
        lambda e, shape, dtype: integers("random_", e, shape, dtype, low, high),
    )  # fmt: skip


def _default_high(dtype: dtypes.dtype) -> int:
    """One above the last integer up to which a dtype can represent all integers."""
    if dtype.is_floating_point:
        return 2 * round(1 / dtypes.finfo(dtype).eps) + 1
    return limits(dtype)[1] + 1


@composite(namespaces=("Tensor",))
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill ``input`` with samples of an exponential distribution, in place.

    Args:
        input: Tensor of a float dtype.
        lambd: The rate, which is the inverse of the mean; default 1.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, torch's numbers up to rounding.

    Raises:
        RuntimeError: If ``lambd`` is not positive, or ``input`` is not a float tensor.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(2).exponential_()
        tensor([3.5083, 1.2304])
    """
    _check_continuous("exponential_", "Exponential", input.dtype)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _fill(
        input, "exponential", generator,
        lambda e, shape, dtype: e.exponential(shape, dtype, float(lambd)),
    )  # fmt: skip


@composite(namespaces=("Tensor",))
def geometric_(input: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill ``input`` with samples of the number of trials until the first success, in place.

    Args:
        input: Tensor of a float or integer dtype.
        p: Probability of a success, in ``(0, 1)``.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, torch's numbers.

    Raises:
        RuntimeError: If ``p`` is not in ``(0, 1)``.
        NotImplementedError: For a bool or complex dtype.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(4).geometric_(0.3)
        tensor([1., 1., 3., 1.])
    """
    if input.dtype.kind in "bc":
        raise not_implemented("geometric_", "geometric_cpu", input.dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _fill(
        input, "geometric", generator, lambda e, shape, dtype: e.geometric(shape, dtype, float(p))
    )


@composite(namespaces=("Tensor",))
def cauchy_(
    input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None
) -> Tensor:
    """Fill ``input`` with samples of a Cauchy distribution, in place.

    Args:
        input: Tensor of a float dtype.
        median: The median; default 0.
        sigma: Half the distance between the quartiles; default 1.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, torch's numbers up to rounding.

    Raises:
        RuntimeError: If ``sigma`` is not positive, or ``input`` is not a float tensor.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(2).cauchy_()
        tensor([10.5977,  0.7648])
    """
    _check_continuous("cauchy_", "Cauchy", input.dtype)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _fill(
        input, "cauchy", generator,
        lambda e, shape, dtype: e.cauchy(shape, dtype, float(median), float(sigma)),
    )  # fmt: skip


@composite(namespaces=("Tensor",))
def log_normal_(
    input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None
) -> Tensor:
    """Fill ``input`` with samples of a log-normal distribution, in place.

    Args:
        input: Tensor of a float dtype.
        mean: Mean of the logarithms; default 1.
        std: Standard deviation of the logarithms; default 2.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        ``input``; with the same seed, torch's numbers up to rounding.

    Raises:
        RuntimeError: If ``std`` is not positive.
        NotImplementedError: If ``input`` is not a float tensor.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.zeros(2).log_normal_()
        tensor([59.2634,  1.5116])
    """
    if not input.is_floating_point():
        raise not_implemented("log_normal_", "log_normal_cpu", input.dtype)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return _fill(
        input, "log_normal", generator,
        lambda e, shape, dtype: e.log_normal(shape, dtype, float(mean), float(std)),
    )  # fmt: skip
