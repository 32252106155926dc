"""NumPy's random functions and generators, which draw by the library of the active backend.

On the NumPy backend a seed produces the numbers that NumPy draws. ``tinytorch.manual_seed`` seeds
PyTorch's functions only. A distribution that the library lacks raises an AttributeError that names
the backend.
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
    """Type of a function that draws from a distribution without parameters."""

    @overload
    def __call__(self) -> N: ...
    @overload
    def __call__(self, size: Sizes, /, **options: Any) -> ndarray: ...
    @overload
    def __call__(self, *, size: Sizes, **options: Any) -> ndarray: ...


class Draw1(Protocol[N]):
    """Type of a function that draws from a distribution of one parameter."""

    @overload
    def __call__(self, a: Any = ..., /, *, size: Sizes, **options: Any) -> ndarray: ...
    @overload
    def __call__(self, a: float = ..., /, **options: float) -> N: ...
    @overload
    def __call__(self, a: Any = ..., size: Any = ..., /, **options: Any) -> ndarray: ...


class Draw2(Protocol[N]):
    """Type of a function that draws from a distribution of two parameters."""

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
    """Type of a function that draws from a distribution of three parameters."""

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
    """Type of ``rand`` and ``randn``, whose arguments are the sizes."""

    @overload
    def __call__(self) -> float: ...
    @overload
    def __call__(self, size: int, /, *sizes: int) -> ndarray: ...


def draw(generator: tuple[Any, Any], name: str, args: Any, options: dict[str, Any]) -> Any:
    """Call a method of the library's generator and wrap the result.

    Args:
        generator: The pair of the library's generator and its backend.
        name: Name of the method.
        args: Positional arguments; arrays and Tensors are converted for the library.
        options: Keyword arguments, likewise.

    Returns:
        An array; ``out`` if that is among the keyword arguments; or the result itself if it has no
        dtype, such as a Python number.

    Raises:
        AttributeError: If the library has no such method.
    """
    source, backend = generator
    backend.check_not_compiling("random numbers are drawn")
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
    # The dtype is the fourth positional argument of `randint`.
    has_dtype = options.get("dtype") is not None or (name == "randint" and len(args) > 3)
    if found.dtype == "int32" and not has_dtype:
        found = found.astype("int64")
    if not isinstance(found, backend.array_type):  # a scalar of NumPy
        found = backend.asarray(found)
    return wrap_result(wrap(found, backend))


#: Classes of arguments that hold no array.
_VALUES = frozenset((int, float, bool, str, type(None)))


def raw_of(name: str, value: Any) -> Any:
    """Convert an argument for the library's method ``name``: arrays and Tensors become raw arrays.

    A 0-d array of NumPy becomes a scalar.

    Raises:
        RuntimeError: For one that requires grad.
    """
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


def _method(example: str, drawn: str, source: str = "np.random", name: str = "") -> Any:
    """Create a method that calls the library's method of the same name.

    Args:
        example: Call in the example of its docstring, without what it is called on.
        drawn: Output of the example. NumPy guarantees the values of ``RandomState``.
        source: Object of the call in the example: ``"np.random"`` or ``"rng"``.
        name: Name of the method, if the example calls another.
    """
    name = name or example.partition("(")[0]

    @raise_numpy_errors
    def method(self: Source, *args: Any, **options: Any) -> Any:
        return draw(self._generator(), name, args, options)

    method.__name__ = name
    method.__qualname__ = f"Source.{name}"
    doc = f"Draw by ``numpy.random``'s ``{name}``, with its arguments."
    first = "rng = np.random.default_rng(0)" if source == "rng" else "np.random.seed(0)"
    method.__doc__ = add_example(doc, f">>> {first}", f">>> {source}.{example}", drawn)
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

    def _generator(self) -> tuple[Any, Any]:
        """The library's generator, or its module ``random``, and the backend of that library."""
        backend = current_backend() if self._backend is None else self._backend
        return (backend.library.random if self._source is None else self._source), backend

    def __repr__(self) -> str:
        return repr(self._generator()[0])

    def __str__(self) -> str:
        return str(self._generator()[0])

    def __reduce__(self) -> Any:
        return type(self).of, (self._source, self._backend)

    beta: Draw2[float] = _method("beta(2.0, 3.0, size=2)", "array([0.60358975, 0.79868334])")
    binomial: Draw2[int] = _method("binomial(10, 0.5, size=3)", "array([5, 6, 5])")
    bytes: Callable[[int], builtins.bytes] = _method("bytes(2)", "b'\\xac\\n'")
    chisquare: Draw1[float] = _method("chisquare(2.0, size=2)", "array([1.59174902, 2.51186153])")
    dirichlet: Callable[..., ndarray] = _method(
        "dirichlet([1.0, 1.0])", "array([0.38788988, 0.61211012])"
    )
    exponential: Draw1[float] = _method(
        "exponential(2.0, size=2)", "array([1.59174902, 2.51186153])"
    )
    f: Draw2[float] = _method("f(2.0, 3.0, size=2)", "array([0.5514189 , 0.21888638])")
    gamma: Draw2[float] = _method("gamma(2.0, size=2)", "array([5.13882958, 2.23848091])")
    geometric: Draw1[int] = _method("geometric(0.5, size=3)", "array([2, 2, 2])")
    gumbel: Draw2[float] = _method("gumbel(size=2)", "array([ 0.22831376, -0.22787694])")
    hypergeometric: Draw3[int] = _method("hypergeometric(5, 5, 4, size=3)", "array([2, 2, 2])")
    laplace: Draw2[float] = _method("laplace(size=2)", "array([0.10272733, 0.56278358])")
    logistic: Draw2[float] = _method("logistic(size=2)", "array([0.19587791, 0.92072284])")
    lognormal: Draw2[float] = _method("lognormal(size=2)", "array([5.83603919, 1.49205924])")
    logseries: Draw1[int] = _method("logseries(0.5, size=3)", "array([1, 1, 1])")
    multinomial: Callable[..., ndarray] = _method("multinomial(6, [0.5, 0.5])", "array([3, 3])")
    multivariate_normal: Callable[..., ndarray] = _method(
        "multivariate_normal([0, 0], [[1, 0], [0, 1]], size=3).shape", "(3, 2)"
    )
    negative_binomial: Draw2[int] = _method(
        "negative_binomial(3, 0.5, size=3)", "array([11,  0,  5])"
    )
    noncentral_chisquare: Draw2[float] = _method(
        "noncentral_chisquare(2.0, 1.0, size=2)", "array([ 4.52340779, 10.86235551])"
    )
    noncentral_f: Draw3[float] = _method(
        "noncentral_f(2.0, 3.0, 1.0, size=2)", "array([0.60078919, 6.46088078])"
    )
    normal: Draw2[float] = _method("normal(10.0, 2.0, size=2)", "array([13.52810469, 10.80031442])")
    pareto: Draw1[float] = _method("pareto(3.0, size=2)", "array([0.30381098, 0.51989855])")
    poisson: Draw1[int] = _method("poisson(4.0, size=3)", "array([6, 7, 1])")
    power: Draw1[float] = _method("power(2.0, size=2)", "array([0.74081948, 0.84568869])")
    random: Draw0[float] = _method("random(2)", "array([0.5488135 , 0.71518937])")
    rayleigh: Draw1[float] = _method("rayleigh(size=2)", "array([1.26164536, 1.58488534])")
    standard_cauchy: Draw0[float] = _method("standard_cauchy(2)", "array([4.40839827, 0.43676244])")
    standard_exponential: Draw0[float] = _method(
        "standard_exponential(2)", "array([0.79587451, 1.25593076])"
    )
    standard_gamma: Draw1[float] = _method(
        "standard_gamma(2.0, size=2)", "array([5.13882958, 2.23848091])"
    )
    standard_normal: Draw0[float] = _method("standard_normal(2)", "array([1.76405235, 0.40015721])")
    standard_t: Draw1[float] = _method(
        "standard_t(3.0, size=2)", "array([ 1.67969022, -1.53369098])"
    )
    triangular: Draw3[float] = _method(
        "triangular(0.0, 1.0, 2.0, size=2)", "array([1.05006685, 1.24526742])"
    )
    uniform: Draw2[float] = _method("uniform(1.0, 2.0, size=2)", "array([1.5488135 , 1.71518937])")
    vonmises: Draw2[float] = _method(
        "vonmises(0.0, 4.0, size=2)", "array([0.5664411 , 0.55977779])"
    )
    wald: Draw2[float] = _method("wald(1.0, 2.0, size=2)", "array([0.30787564, 0.75425984])")
    weibull: Draw1[float] = _method("weibull(2.0, size=2)", "array([0.89211799, 1.12068317])")
    zipf: Draw1[int] = _method("zipf(3.0, size=3)", "array([1, 1, 1])")

    @raise_numpy_errors
    def _shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle a list, an array or a Tensor in place."""
        given = unwrap_holder(x)
        if isinstance(given, Tensor):
            given.copy_(self._permute(given, axis))
        else:  # CuPy shuffles only arrays on its device.
            x[:] = [x[i] for i in self._permute(len(x)).tolist()]

    def _permute(self, x: Any, axis: int = 0) -> Any:
        """Implement ``permutation``: the integers below ``x``, or the slices of an array ``x``.

        The library shuffles indices, and the gradient flows to the array.
        """
        generator = self._generator()
        if x.__class__ is int:
            return draw(generator, "permutation", (x,), {})
        given = tensor_of(unwrap_holder(x), generator[1])
        if not given.ndim and given.dtype.kind in "iu":
            return draw(generator, "permutation", (int(given),), {})
        if not given.ndim:
            raise IndexError(f"x must be an integer or at least 1-dimensional, got {x!r}")
        (axis,) = axes_of("permutation", axis, given.ndim)
        order = generator[1].library.arange(given.shape[axis])
        draw(generator, "shuffle", (order,), {})
        return wrap_for(x, given.index_select(axis, wrap(order, generator[1])))

    def _choose(self, a: Any, size: Any, options: dict[str, Any], axis: int = 0) -> Any:
        """Implement ``choice``: the library draws indices, and the gradient flows to ``a``.

        Args:
            a: An integer or an array; see ``choice``.
            size: See ``choice``.
            options: Further keyword arguments of the library's ``choice``, among them ``"p"``.
            axis: The dimension along which slices are drawn.
        """
        generator = self._generator()
        if a.__class__ is int and options["p"] is None:
            return draw(generator, "choice", (a, size), options)
        if options["p"] is not None:
            # CuPy divides the running sum of `p` in place, so it must not be of integers.
            p = as_float(tensor_of(unwrap_holder(options["p"]), generator[1]))
            options = {**options, "p": p}
        given = tensor_of(unwrap_holder(a), generator[1])
        if not given.ndim and given.dtype.kind in "iu":
            return draw(generator, "choice", (int(given), size), options)
        if not given.ndim:
            raise ValueError(f"a must be a sequence or an integer, got {a!r}")
        index = unwrap_holder(draw(generator, "choice", (given.shape[axis], size), options))
        return wrap_for(a, given[(slice(None),) * (axis % given.ndim) + (index,)])


def wrap_for(argument: Any, result: Any) -> Any:
    """Return the Tensor ``result`` as it is if ``argument`` is a Tensor, else as an array."""
    return result if isinstance(argument, Tensor) else wrap_result(result)


class Generator(Source):
    """A source of random arrays; ``default_rng`` makes one.

    Args:
        bit_generator: Source of random bits, such as ``np.random.PCG64(0)``.

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
        """The source of random bits; its ``state`` can be read and set."""
        return self._source.bit_generator

    integers: Draw2[int] = _method("integers(10, size=(2, 3)).shape", "(2, 3)", "rng")
    multivariate_hypergeometric: Callable[..., ndarray] = _method(
        "multivariate_hypergeometric([3, 4], 2).sum()", "2", "rng"
    )

    def spawn(self, n_children: int) -> list[Generator]:
        """Create generators that are independent of this one and of each other.

        Args:
            n_children: Number of generators.

        Example:
            >>> len(np.random.default_rng(0).spawn(2))
            2
        """
        return [Generator.of(each, self._backend) for each in self._source.spawn(n_children)]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle the elements of a list, or the slices of an array, in place.

        Args:
            x: List, array or Tensor.
            axis: The dimension along which slices are shuffled; default the first.

        Example:
            >>> x = [1, 2, 3]
            >>> np.random.default_rng().shuffle(x)
            >>> sorted(x)
            [1, 2, 3]
        """
        self._shuffle(x, axis)

    @overload
    def permutation(self, x: Tensor, axis: int = 0) -> Tensor: ...
    @overload
    def permutation(self, x: Any, axis: int = 0) -> ndarray: ...
    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The integers below ``x``, or the slices of an array, in a random order.

        Args:
            x: An integer, or an array of at least one dimension, to which the gradient flows.
            axis: The dimension along which slices are permuted; default the first.

        Example:
            >>> np.sort(np.random.default_rng(0).permutation(4))
            array([0, 1, 2, 3])
        """
        return self._permute(x, axis)

    @overload
    def permuted(self, x: Tensor, *, axis: int | None = None, out: Any = None) -> Tensor: ...
    @overload
    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> ndarray: ...
    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """Permute the elements of a dimension at random, each 1-d slice independently.

        Args:
            x: An array, to which the gradient flows.
            axis: The dimension; None, the default, permutes all elements of the array.
            out: Array for the result.

        Example:
            >>> np.random.default_rng(0).permuted([[1, 2, 3], [4, 5, 6]], axis=1).sum(axis=1)
            array([ 6, 15])
        """
        generator = self._generator()
        given = tensor_of(unwrap_holder(x), generator[1])
        size = given.numel() if axis is None else given.shape[axis]
        order = generator[1].library.arange(size)
        if axis is None:
            order = order.reshape(tuple(given.shape))
        else:
            shape = [-1 if d == axis % given.ndim else 1 for d in range(given.ndim)]
            order = order.reshape(shape) + generator[1].library.zeros(tuple(given.shape), "int64")
        index = unwrap_holder(draw(generator, "permuted", (order,), {"axis": axis}))
        found = given.reshape(-1)[index] if axis is None else given.gather(axis, index)
        if out is None:
            return wrap_for(x, found)
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
        """Draw integers below ``a``, or slices of an array.

        Args:
            a: An integer, or an array, to which the gradient flows.
            size: Number of draws, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default True.
            p: Probabilities; default uniform.
            axis: The dimension along which slices are drawn; default the first.
            shuffle: Whether a draw without replacement is in a random order.

        Example:
            >>> np.random.default_rng(0).choice([10, 20, 30], size=2, p=[0, 1, 0])
            array([20, 20])
        """
        return self._choose(a, size, {"replace": replace, "p": p, "shuffle": shuffle}, axis)


class RandomState(Source):
    """NumPy's legacy source of random arrays, whose numbers are the same in all its versions.

    Args:
        seed: An integer that makes the arrays reproducible; None, the default, draws a seed.

    Example:
        >>> np.random.RandomState(0).rand(2)
        array([0.5488135 , 0.71518937])
    """

    __module__ = "tinytorch.numpy.random"

    def __init__(self, seed: Any = None) -> None:
        self._backend = current_backend()
        self._source = self._backend.library.random.RandomState(to_detached("RandomState", seed))

    rand: Sized = _method("rand(2)", "array([0.5488135 , 0.71518937])")
    randint: Draw2[int] = _method("randint(10, size=3)", "array([5, 0, 3])")
    randn: Sized = _method("randn(2)", "array([1.76405235, 0.40015721])")
    random_sample: Draw0[float] = _method("random_sample(2)", "array([0.5488135 , 0.71518937])")
    seed: Callable[..., None] = _method("rand(2)", "array([0.5488135 , 0.71518937])", name="seed")
    random_integers: Draw2[int] = _method(
        "RandomState(0).get_state()[0]", "'MT19937'", name="random_integers"
    )
    tomaxint: Draw0[int] = _method("RandomState(0).tomaxint(2).shape", "(2,)", name="tomaxint")
    get_state: Callable[..., Any] = _method("get_state()[0]", "'MT19937'")
    set_state: Callable[..., None] = _method("set_state(np.random.get_state())", "")

    def shuffle(self, x: Any) -> None:
        """Shuffle the elements of a list, or the slices of an array, in place.

        Args:
            x: List, array or Tensor.

        Example:
            >>> x = [1, 2, 3]
            >>> np.random.shuffle(x)
            >>> sorted(x)
            [1, 2, 3]
        """
        self._shuffle(x)

    @overload
    def permutation(self, x: Tensor) -> Tensor: ...
    @overload
    def permutation(self, x: Any) -> ndarray: ...
    def permutation(self, x: Any) -> Any:
        """The integers below ``x``, or the slices of an array, in a random order.

        Args:
            x: An integer, or an array of at least one dimension, to which the gradient flows.

        Example:
            >>> np.random.seed(0)
            >>> np.random.permutation(4)
            array([2, 3, 1, 0])
        """
        return self._permute(x)

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
        """Draw integers below ``a``, or elements of an array.

        Args:
            a: An integer, or a 1-d array, to which the gradient flows.
            size: Number of draws, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default True.
            p: Probabilities; default uniform.

        Example:
            >>> np.random.choice([10, 20, 30], size=2, p=[0, 1, 0])
            array([20, 20])
        """
        if a.__class__ is not int and tensor_of(unwrap_holder(a), self._generator()[1]).ndim > 1:
            raise ValueError("a must be 1-dimensional")
        return self._choose(a, size, {"replace": replace, "p": p})


# The functions below are bound methods, so the classes must get short tracebacks before.
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

#: NumPy's own bit generators.
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
    """Create a generator.

    Args:
        seed: An integer that makes the arrays reproducible; None, the default, draws a seed; a bit
            generator; or a generator, which is returned.

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


#: The generator of the functions of this module.
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
