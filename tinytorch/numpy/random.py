"""Random tensors by NumPy's names, drawn by the ``random`` of the active backend's library.

On the NumPy backend a seed gives NumPy's own numbers. They have nothing to do with
``tinytorch.manual_seed``, which seeds PyTorch's. A law that the library lacks is an
AttributeError that names the backend.

NumPy's random generators, which draw by the library of the active backend.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, TypeAlias, TypeVar, overload

from ..core.tensor import Tensor, unwrap_holder, wrap
from ..state import current_backend
from ..state.tracebacks import shorten_class
from .arrays import ndarray, wrap_result
from .functions.conversion import as_float, axes_of, host, is_recorded, tensor_of
from .functions.registration import add_example, raise_numpy_errors
from .namespace import to_detached

N = TypeVar("N", covariant=True)
Sizes: TypeAlias = int | Sequence[int]


class Draw0(Protocol[N]):
    """Of no parameters."""

    @overload
    def __call__(self) -> N: ...
    @overload
    def __call__(self, size: Sizes, /, **options: Any) -> ndarray: ...
    @overload
    def __call__(self, *, size: Sizes, **options: Any) -> ndarray: ...


class Draw1(Protocol[N]):
    """Of one parameter."""

    @overload
    def __call__(self, a: Any = ..., /, *, size: Sizes, **options: Any) -> ndarray: ...
    @overload
    def __call__(self, a: float = ..., /, **options: float) -> N: ...
    @overload
    def __call__(self, a: Any = ..., size: Any = ..., /, **options: Any) -> ndarray: ...


class Draw2(Protocol[N]):
    """Of two parameters."""

    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., /, *, size: Sizes, **options: Any
    ) -> ndarray: ...
    @overload
    def __call__(self, a: float = ..., b: float = ..., /, **options: float) -> N: ...
    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., size: Any = ..., /, **options: Any
    ) -> ndarray: ...


class Draw3(Protocol[N]):
    """Of three parameters."""

    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., c: Any = ..., /, *, size: Sizes, **options: Any
    ) -> ndarray: ...
    @overload
    def __call__(
        self, a: float = ..., b: float = ..., c: float = ..., /, **options: float
    ) -> N: ...
    @overload
    def __call__(
        self, a: Any = ..., b: Any = ..., c: Any = ..., size: Any = ..., /, **options: Any
    ) -> ndarray: ...


class Sized(Protocol):
    """The laws whose parameters are the sizes."""

    @overload
    def __call__(self) -> float: ...
    @overload
    def __call__(self, size: int, /, *sizes: int) -> ndarray: ...


def draw(place: tuple[Any, Any], name: str, args: Any, options: dict[str, Any]) -> Any:
    """Call a method of the library's generator and wrap the arrays that it returns."""
    source, backend = place
    if not hasattr(source, name):
        raise AttributeError(f"the random source of backend {backend.name!r} has no {name!r}")
    given = [raw_of(name, value) for value in args]
    raw = {key: raw_of(name, value) for key, value in options.items()} if options else options
    found = getattr(source, name)(*given, **raw)
    if options.get("out") is not None:
        tensor_of(unwrap_holder(options["out"]))._bump()
        return options["out"]
    if not hasattr(found, "dtype"):
        return found
    # NumPy's default integers have 32 bits where addresses do. Without a dtype they become int64.
    asked = options.get("dtype") is not None or (name == "randint" and len(args) > 3)
    if found.dtype == "int32" and not asked:
        found = found.astype("int64")
    if not isinstance(found, backend.array_type):  # a number of NumPy's
        found = backend.asarray(found)
    return wrap_result(wrap(found, backend))


#: Classes of arguments that hold no array.
_VALUES = frozenset((int, float, bool, str, type(None)))


def raw_of(name: str, value: Any) -> Any:
    """Convert an argument for the library's method ``name``."""
    if value.__class__ in _VALUES:
        return value
    value = unwrap_holder(value)
    if not isinstance(value, Tensor):
        return value
    if is_recorded(value):
        raise RuntimeError(
            f"{name}: no gradient flows through what is drawn; got an array that requires grad"
        )
    data = value.detach()._data
    return data if data.shape else data[()]


def draw_method(name: str, call: str, drawn: str, first: str = "np.random.seed(0)") -> Any:
    """Create a method that calls the library's method of the same name.

    Args:
        name: Name of the method.
        call: Call in the example of its docstring.
        drawn: Output of the example. NumPy guarantees the values of ``RandomState``.
        first: Line of the example before the call.
    """

    @raise_numpy_errors
    def method(self: Source, *args: Any, **options: Any) -> Any:
        return draw(self._place(), name, args, options)

    method.__name__ = name
    method.__qualname__ = f"Source.{name}"
    doc = f"Draw by ``numpy.random``'s ``{name}``, whose arguments it takes."
    method.__doc__ = add_example(doc, f">>> {first}", f">>> {call}", drawn)
    return method


class Source:
    """Base class of ``Generator`` and ``RandomState`` with the distributions that both have."""

    _source: Any
    _backend: Any

    @classmethod
    def of(cls, source: Any, backend: Any = None) -> Self:
        """Create an instance that draws from a generator of the library.

        Args:
            source: The generator; None means the module ``random`` of the library.
            backend: The backend of that library; None means the active one.
        """
        made = object.__new__(cls)
        made._source, made._backend = source, backend
        return made

    def _place(self) -> tuple[Any, Any]:
        backend = current_backend() if self._backend is None else self._backend
        return (backend.library.random if self._source is None else self._source), backend

    def __repr__(self) -> str:
        return repr(self._place()[0])

    def __str__(self) -> str:
        return str(self._place()[0])

    def __reduce__(self) -> Any:
        return type(self).of, (self._source, self._backend)

    beta: Draw2[float] = draw_method(
        "beta", "np.random.beta(2.0, 3.0, size=2)",
        "array([0.60358975, 0.79868334])",
    )  # fmt: skip
    binomial: Draw2[int] = draw_method(
        "binomial", "np.random.binomial(10, 0.5, size=3)", "array([5, 6, 5])"
    )
    bytes: Callable[[int], builtins.bytes] = draw_method(
        "bytes", "np.random.bytes(2)", "b'\\xac\\n'"
    )
    chisquare: Draw1[float] = draw_method(
        "chisquare", "np.random.chisquare(2.0, size=2)",
        "array([1.59174902, 2.51186153])",
    )  # fmt: skip
    dirichlet: Callable[..., ndarray] = draw_method(
        "dirichlet", "np.random.dirichlet([1.0, 1.0])",
        "array([0.38788988, 0.61211012])",
    )  # fmt: skip
    exponential: Draw1[float] = draw_method(
        "exponential", "np.random.exponential(2.0, size=2)",
        "array([1.59174902, 2.51186153])",
    )  # fmt: skip
    f: Draw2[float] = draw_method(
        "f", "np.random.f(2.0, 3.0, size=2)", "array([0.5514189 , 0.21888638])"
    )
    gamma: Draw2[float] = draw_method(
        "gamma", "np.random.gamma(2.0, size=2)", "array([5.13882958, 2.23848091])"
    )
    geometric: Draw1[int] = draw_method(
        "geometric", "np.random.geometric(0.5, size=3)", "array([2, 2, 2])"
    )
    gumbel: Draw2[float] = draw_method(
        "gumbel", "np.random.gumbel(size=2)", "array([ 0.22831376, -0.22787694])"
    )
    hypergeometric: Draw3[int] = draw_method(
        "hypergeometric", "np.random.hypergeometric(5, 5, 4, size=3)", "array([2, 2, 2])"
    )
    laplace: Draw2[float] = draw_method(
        "laplace", "np.random.laplace(size=2)", "array([0.10272733, 0.56278358])"
    )
    logistic: Draw2[float] = draw_method(
        "logistic", "np.random.logistic(size=2)",
        "array([0.19587791, 0.92072284])",
    )  # fmt: skip
    lognormal: Draw2[float] = draw_method(
        "lognormal", "np.random.lognormal(size=2)",
        "array([5.83603919, 1.49205924])",
    )  # fmt: skip
    logseries: Draw1[int] = draw_method(
        "logseries", "np.random.logseries(0.5, size=3)", "array([1, 1, 1])"
    )
    multinomial: Callable[..., ndarray] = draw_method(
        "multinomial", "np.random.multinomial(6, [0.5, 0.5])", "array([3, 3])"
    )
    multivariate_normal: Callable[..., ndarray] = draw_method(
        "multivariate_normal",
        "np.random.multivariate_normal([0, 0], [[1, 0], [0, 1]], size=3).shape",
        "(3, 2)",
    )  # fmt: skip
    negative_binomial: Draw2[int] = draw_method(
        "negative_binomial", "np.random.negative_binomial(3, 0.5, size=3)", "array([11,  0,  5])"
    )
    noncentral_chisquare: Draw2[float] = draw_method(
        "noncentral_chisquare", "np.random.noncentral_chisquare(2.0, 1.0, size=2)",
        "array([ 4.52340779, 10.86235551])",
    )  # fmt: skip
    noncentral_f: Draw3[float] = draw_method(
        "noncentral_f", "np.random.noncentral_f(2.0, 3.0, 1.0, size=2)",
        "array([0.60078919, 6.46088078])",
    )  # fmt: skip
    normal: Draw2[float] = draw_method(
        "normal", "np.random.normal(10.0, 2.0, size=2)",
        "array([13.52810469, 10.80031442])",
    )  # fmt: skip
    pareto: Draw1[float] = draw_method(
        "pareto", "np.random.pareto(3.0, size=2)",
        "array([0.30381098, 0.51989855])",
    )  # fmt: skip
    poisson: Draw1[int] = draw_method(
        "poisson", "np.random.poisson(4.0, size=3)", "array([6, 7, 1])"
    )
    power: Draw1[float] = draw_method(
        "power", "np.random.power(2.0, size=2)", "array([0.74081948, 0.84568869])"
    )
    random: Draw0[float] = draw_method(
        "random", "np.random.random(2)", "array([0.5488135 , 0.71518937])"
    )
    rayleigh: Draw1[float] = draw_method(
        "rayleigh", "np.random.rayleigh(size=2)",
        "array([1.26164536, 1.58488534])",
    )  # fmt: skip
    standard_cauchy: Draw0[float] = draw_method(
        "standard_cauchy", "np.random.standard_cauchy(2)",
        "array([4.40839827, 0.43676244])",
    )  # fmt: skip
    standard_exponential: Draw0[float] = draw_method(
        "standard_exponential", "np.random.standard_exponential(2)",
        "array([0.79587451, 1.25593076])",
    )  # fmt: skip
    standard_gamma: Draw1[float] = draw_method(
        "standard_gamma", "np.random.standard_gamma(2.0, size=2)",
        "array([5.13882958, 2.23848091])",
    )  # fmt: skip
    standard_normal: Draw0[float] = draw_method(
        "standard_normal", "np.random.standard_normal(2)",
        "array([1.76405235, 0.40015721])",
    )  # fmt: skip
    standard_t: Draw1[float] = draw_method(
        "standard_t", "np.random.standard_t(3.0, size=2)",
        "array([ 1.67969022, -1.53369098])",
    )  # fmt: skip
    triangular: Draw3[float] = draw_method(
        "triangular", "np.random.triangular(0.0, 1.0, 2.0, size=2)",
        "array([1.05006685, 1.24526742])",
    )  # fmt: skip
    uniform: Draw2[float] = draw_method(
        "uniform", "np.random.uniform(1.0, 2.0, size=2)",
        "array([1.5488135 , 1.71518937])",
    )  # fmt: skip
    vonmises: Draw2[float] = draw_method(
        "vonmises", "np.random.vonmises(0.0, 4.0, size=2)",
        "array([0.5664411 , 0.55977779])",
    )  # fmt: skip
    wald: Draw2[float] = draw_method(
        "wald", "np.random.wald(1.0, 2.0, size=2)",
        "array([0.30787564, 0.75425984])",
    )  # fmt: skip
    weibull: Draw1[float] = draw_method(
        "weibull", "np.random.weibull(2.0, size=2)",
        "array([0.89211799, 1.12068317])",
    )  # fmt: skip
    zipf: Draw1[int] = draw_method("zipf", "np.random.zipf(3.0, size=3)", "array([1, 1, 1])")

    @raise_numpy_errors
    def _shuffled(self, x: Any, axis: int = 0) -> None:
        given = unwrap_holder(x)
        if isinstance(given, Tensor):
            given.copy_(self._permuted(given, axis))
        else:  # CuPy shuffles nothing that is on the host
            x[:] = [x[i] for i in self._permuted(len(x)).tolist()]

    def _permuted(self, x: Any, axis: int = 0) -> Any:
        place = self._place()
        if x.__class__ is int:
            return draw(place, "permutation", (x,), {})
        given = tensor_of(unwrap_holder(x), place[1])
        if not given.ndim and given.dtype.category == 1:
            return draw(place, "permutation", (int(given),), {})
        if not given.ndim:
            raise IndexError(f"x must be an integer or at least 1-dimensional, got {x!r}")
        (axis,) = axes_of("permutation", axis, given.ndim)
        order = place[1].library.arange(given.shape[axis])
        draw(place, "shuffle", (order,), {})
        return closed(given.index_select(axis, wrap(order, place[1])), x)

    def _chosen(self, a: Any, size: Any, options: dict[str, Any], axis: int = 0) -> Any:
        place = self._place()
        if a.__class__ is int and options["p"] is None:
            return draw(place, "choice", (a, size), options)
        if options["p"] is not None:
            # CuPy divides the running sum of what it is given in place: integers do not hold it.
            options = {**options, "p": as_float(tensor_of(unwrap_holder(options["p"]), place[1]))}
        given = tensor_of(unwrap_holder(a), place[1])
        if not given.ndim and given.dtype.category == 1:
            return draw(place, "choice", (int(given), size), options)
        if not given.ndim:
            raise ValueError(f"a must be a sequence or an integer, got {a!r}")
        places = unwrap_holder(draw(place, "choice", (given.shape[axis], size), options))
        return closed(given[(slice(None),) * (axis % given.ndim) + (places,)], a)


def closed(found: Any, given: Any) -> Any:
    """A result as an array, unless a Tensor was given."""
    return found if isinstance(given, Tensor) else wrap_result(found)


class Generator(Source):
    """A source of random arrays; ``default_rng`` makes one.

    Args:
        bit_generator: Where its bits come from, such as ``np.random.PCG64(0)``.

    Example:
        >>> np.random.Generator(np.random.PCG64(0)).normal(size=(2, 3)).shape
        (2, 3)
    """

    __module__ = "tinytorch.numpy.random"

    def __init__(self, bit_generator: Any) -> None:
        self._backend = current_backend()
        self._source = self._backend.library.random.Generator(bit_generator)

    @property
    def bit_generator(self) -> Any:
        """Where its bits come from; its ``state`` can be kept and set."""
        return self._source.bit_generator

    integers: Draw2[int] = draw_method(
        "integers", "rng.integers(10, size=(2, 3)).shape",
        "(2, 3)", "rng = np.random.default_rng(0)",
    )  # fmt: skip
    multivariate_hypergeometric: Callable[..., ndarray] = draw_method(
        "multivariate_hypergeometric", "rng.multivariate_hypergeometric([3, 4], 2).sum()", "2",
        "rng = np.random.default_rng(0)",
    )  # fmt: skip

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators whose numbers have nothing to do with this one's or each other's.

        Args:
            n_children: How many.

        Example:
            >>> len(np.random.default_rng(0).spawn(2))
            2
        """
        return [Generator.of(each, self._backend) for each in self._source.spawn(n_children)]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put the elements of a list, or the slices of an array, in a random order.

        Args:
            x: What is written to.
            axis: The dimension of which the slices are; default the first.

        Example:
            >>> x = [1, 2, 3]
            >>> np.random.default_rng().shuffle(x)
            >>> sorted(x)
            [1, 2, 3]
        """
        self._shuffled(x, axis)

    @overload
    def permutation(self, x: Tensor, axis: int = 0) -> Tensor: ...
    @overload
    def permutation(self, x: Any, axis: int = 0) -> ndarray: ...
    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The numbers below ``x``, or the slices of an array, in a random order.

        Args:
            x: A number, or an array of at least one dimension, to which the gradient flows.
            axis: The dimension of which the slices are; default the first.

        Example:
            >>> np.sort(np.random.default_rng(0).permutation(4))
            array([0, 1, 2, 3])
        """
        return self._permuted(x, axis)

    @overload
    def permuted(self, x: Tensor, *, axis: int | None = None, out: Any = None) -> Tensor: ...
    @overload
    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> ndarray: ...
    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """The elements in a random order, in each slice along a dimension in one of its own.

        Args:
            x: An array, to which the gradient flows.
            axis: The dimension; None, the default, means that all elements change places.
            out: Where to write the result.

        Example:
            >>> np.random.default_rng(0).permuted([[1, 2, 3], [4, 5, 6]], axis=1).sum(axis=1)
            array([ 6, 15])
        """
        place = self._place()
        given = tensor_of(unwrap_holder(x), place[1])
        size = given.numel() if axis is None else given.shape[axis]
        order = place[1].library.arange(size)
        if axis is None:
            order = order.reshape(tuple(given.shape))
        else:
            shape = [-1 if d == axis % given.ndim else 1 for d in range(given.ndim)]
            order = order.reshape(shape) + place[1].library.zeros(tuple(given.shape), "int64")
        index = unwrap_holder(draw(place, "permuted", (order,), {"axis": axis}))
        found = given.reshape(-1)[index] if axis is None else given.gather(axis, index)
        if out is None:
            return closed(found, x)
        if out.dtype != found.dtype:
            raise TypeError(f"Cannot cast {found.dtype.name} to out= of dtype {out.dtype}")
        if tuple(out.shape) != tuple(found.shape):
            shapes = f"{tuple(out.shape)}, the result {tuple(found.shape)}"
            raise ValueError(f"out= must have the same shape as x: it has {shapes}")
        unwrap_holder(out).copy_(found)
        return out

    @overload
    def choice(
        self, a: int, size: None = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> int: ...  # fmt: skip
    @overload
    def choice(
        self, a: Tensor, size: Sizes | None = None, replace: bool = True, p: Any = None,
        axis: int = 0, shuffle: bool = True,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def choice(
        self, a: Any, size: Sizes | None = None, replace: bool = True, p: Any = None,
        axis: int = 0, shuffle: bool = True,
    ) -> ndarray: ...  # fmt: skip
    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> Any:  # fmt: skip
        """Numbers below ``a``, or slices of an array, at random.

        Args:
            a: A number, or an array, to which the gradient flows.
            size: How many, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default yes.
            p: How probable each is; default all the same.
            axis: The dimension of which the slices are; default the first.
            shuffle: Whether what is drawn without being replaced is in a random order.

        Example:
            >>> np.random.default_rng(0).choice([10, 20, 30], size=2, p=[0, 1, 0])
            array([20, 20])
        """
        return self._chosen(a, size, {"replace": replace, "p": p, "shuffle": shuffle}, axis)


class RandomState(Source):
    """A source of random arrays of NumPy's older kind, whose numbers stay as they are.

    Args:
        seed: A number, which gives the same arrays again; None, the default, gives new ones.

    Example:
        >>> np.random.RandomState(0).rand(2)
        array([0.5488135 , 0.71518937])
    """

    __module__ = "tinytorch.numpy.random"

    def __init__(self, seed: Any = None) -> None:
        self._backend = current_backend()
        self._source = self._backend.library.random.RandomState(to_detached("RandomState", seed))

    rand: Sized = draw_method("rand", "np.random.rand(2)", "array([0.5488135 , 0.71518937])")
    randint: Draw2[int] = draw_method(
        "randint", "np.random.randint(10, size=3)", "array([5, 0, 3])"
    )
    randn: Sized = draw_method("randn", "np.random.randn(2)", "array([1.76405235, 0.40015721])")
    random_sample: Draw0[float] = draw_method(
        "random_sample", "np.random.random_sample(2)",
        "array([0.5488135 , 0.71518937])",
    )  # fmt: skip
    seed: Callable[..., None] = draw_method(
        "seed", "np.random.rand(2)", "array([0.5488135 , 0.71518937])"
    )
    random_integers: Draw2[int] = draw_method(
        "random_integers", "np.random.RandomState(0).get_state()[0]", "'MT19937'"
    )
    tomaxint: Draw0[int] = draw_method(
        "tomaxint", "np.random.RandomState(0).tomaxint(2).shape", "(2,)"
    )
    get_state: Callable[..., Any] = draw_method(
        "get_state", "np.random.get_state()[0]", "'MT19937'"
    )
    set_state: Callable[..., None] = draw_method(
        "set_state", "np.random.set_state(np.random.get_state())", ""
    )

    def shuffle(self, x: Any) -> None:
        """Put the elements of a list, or the slices of an array, in a random order.

        Args:
            x: What is written to.

        Example:
            >>> x = [1, 2, 3]
            >>> np.random.shuffle(x)
            >>> sorted(x)
            [1, 2, 3]
        """
        self._shuffled(x)

    @overload
    def permutation(self, x: Tensor) -> Tensor: ...
    @overload
    def permutation(self, x: Any) -> ndarray: ...
    def permutation(self, x: Any) -> Any:
        """The numbers below ``x``, or the slices of an array, in a random order.

        Args:
            x: A number, or an array of at least one dimension, to which the gradient flows.

        Example:
            >>> np.random.seed(0)
            >>> np.random.permutation(4)
            array([2, 3, 1, 0])
        """
        return self._permuted(x)

    @overload
    def choice(self, a: int, size: None = None, replace: bool = True, p: Any = None) -> int: ...
    @overload
    def choice(
        self, a: Tensor, size: Sizes | None = None, replace: bool = True, p: Any = None
    ) -> Tensor: ...
    @overload
    def choice(
        self, a: Any, size: Sizes | None = None, replace: bool = True, p: Any = None
    ) -> ndarray: ...
    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Numbers below ``a``, or elements of an array, at random.

        Args:
            a: A number, or an array, of whose first dimension the slices are drawn.
            size: How many, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default yes.
            p: How probable each is; default all the same.

        Example:
            >>> np.random.choice([10, 20, 30], size=2, p=[0, 1, 0])
            array([20, 20])
        """
        if a.__class__ is not int and tensor_of(unwrap_holder(a), self._place()[1]).ndim > 1:
            raise ValueError("a must be 1-dimensional")
        return self._chosen(a, size, {"replace": replace, "p": p})


# The functions below are methods that are bound before the module's classes get short tracebacks.
for _class in (RandomState, Source):
    shorten_class(_class)

__all__ = [
    "BitGenerator", "Generator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "RandomState", "SFC64",
    "SeedSequence", "beta", "binomial", "bytes", "chisquare", "choice", "default_rng",
    "dirichlet", "exponential", "f", "gamma", "geometric", "get_bit_generator", "get_state",
    "gumbel", "hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal",
    "pareto", "permutation", "poisson", "power", "rand", "randint", "randn", "random",
    "random_integers", "random_sample", "ranf", "rayleigh", "sample", "seed", "set_bit_generator",
    "set_state", "shuffle", "standard_cauchy", "standard_exponential", "standard_gamma",
    "standard_normal", "standard_t", "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
]  # fmt: skip

#: NumPy's own sources of bits.
BitGenerator: Any = host().random.BitGenerator
MT19937: Any = host().random.MT19937
PCG64: Any = host().random.PCG64
PCG64DXSM: Any = host().random.PCG64DXSM
Philox: Any = host().random.Philox
SFC64: Any = host().random.SFC64
SeedSequence: Any = host().random.SeedSequence
get_bit_generator: Callable[[], Any] = host().random.get_bit_generator
set_bit_generator: Callable[[Any], None] = host().random.set_bit_generator


def default_rng(seed: Any = None) -> Generator:
    """A new generator.

    Args:
        seed: A number, which gives the same arrays again; None, the default, gives new ones; a
            source of bits; or a generator, which is what is returned.

    Example:
        >>> first, second = np.random.default_rng(0), np.random.default_rng(0)
        >>> np.array_equal(first.random(3), second.random(3))
        True
    """
    if isinstance(seed, Generator):
        return seed
    backend = current_backend()
    source = seed._source if isinstance(seed, RandomState) else to_detached("default_rng", seed)
    return Generator.of(backend.library.random.default_rng(source), backend)


#: What NumPy's functions of this module draw from.
_shared = RandomState.of(None)

beta: Draw2[float] = _shared.beta
binomial: Draw2[int] = _shared.binomial
bytes: Callable[[int], builtins.bytes] = _shared.bytes
chisquare: Draw1[float] = _shared.chisquare
choice = _shared.choice
dirichlet: Callable[..., ndarray] = _shared.dirichlet
exponential: Draw1[float] = _shared.exponential
f: Draw2[float] = _shared.f
gamma: Draw2[float] = _shared.gamma
geometric: Draw1[int] = _shared.geometric
gumbel: Draw2[float] = _shared.gumbel
hypergeometric: Draw3[int] = _shared.hypergeometric
laplace: Draw2[float] = _shared.laplace
logistic: Draw2[float] = _shared.logistic
lognormal: Draw2[float] = _shared.lognormal
logseries: Draw1[int] = _shared.logseries
multinomial: Callable[..., ndarray] = _shared.multinomial
multivariate_normal: Callable[..., ndarray] = _shared.multivariate_normal
negative_binomial: Draw2[int] = _shared.negative_binomial
noncentral_chisquare: Draw2[float] = _shared.noncentral_chisquare
noncentral_f: Draw3[float] = _shared.noncentral_f
normal: Draw2[float] = _shared.normal
pareto: Draw1[float] = _shared.pareto
permutation = _shared.permutation
poisson: Draw1[int] = _shared.poisson
power: Draw1[float] = _shared.power
rand: Sized = _shared.rand
randint: Draw2[int] = _shared.randint
randn: Sized = _shared.randn
random: Draw0[float] = _shared.random
random_sample: Draw0[float] = _shared.random_sample
rayleigh: Draw1[float] = _shared.rayleigh
seed: Callable[..., None] = _shared.seed
shuffle: Callable[[Any], None] = _shared.shuffle
standard_cauchy: Draw0[float] = _shared.standard_cauchy
standard_exponential: Draw0[float] = _shared.standard_exponential
standard_gamma: Draw1[float] = _shared.standard_gamma
standard_normal: Draw0[float] = _shared.standard_normal
standard_t: Draw1[float] = _shared.standard_t
triangular: Draw3[float] = _shared.triangular
uniform: Draw2[float] = _shared.uniform
vonmises: Draw2[float] = _shared.vonmises
wald: Draw2[float] = _shared.wald
weibull: Draw1[float] = _shared.weibull
zipf: Draw1[int] = _shared.zipf
get_state: Callable[..., Any] = _shared.get_state
set_state: Callable[..., None] = _shared.set_state
random_integers: Draw2[int] = _shared.random_integers
ranf: Draw0[float] = _shared.random_sample
sample: Draw0[float] = _shared.random_sample
