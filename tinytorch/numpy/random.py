"""Random tensors by NumPy's names, drawn by the ``random`` of the active backend's library.

On the NumPy backend a seed gives NumPy's own numbers. They have nothing to do with
``tinytorch.manual_seed``, which seeds PyTorch's. A law that the library lacks is an
AttributeError that names the backend.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from numbers import Integral
from typing import Any, overload

from ..core.holder import held
from ..core.tensor import Tensor, wrap
from ..state import current_backend
from ._laws import Law0, Law1, Law2, Law3, Sized, Sizes
from .arrays import array_of_tensor, ndarray
from .functions.dialect import raising, tensor_of, with_example

__all__ = [
    "Generator", "RandomState", "beta", "binomial", "bytes", "chisquare", "choice", "default_rng",
    "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel", "hypergeometric", "laplace",
    "logistic", "lognormal", "logseries", "multinomial", "multivariate_normal", "negative_binomial",
    "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation", "poisson", "power",
    "rand", "randint", "randn", "random", "random_sample", "rayleigh", "seed", "shuffle",
    "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t",
    "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
]  # fmt: skip


def _drawn(place: tuple[Any, Any], name: str, args: Any, options: dict[str, Any]) -> Any:
    """What a function of a random source gives: arrays as tensors, numbers as Python's."""
    source, backend = place
    if not hasattr(source, name):
        raise AttributeError(f"the random source of backend {backend.name!r} has no {name!r}")
    raw = {key: _raw(value) for key, value in options.items()}
    found = getattr(source, name)(*map(_raw, args), **raw)
    if isinstance(found, backend.array_type):
        return array_of_tensor(wrap(found, backend))
    return found.item() if hasattr(found, "dtype") else found


def _like(given: Any, found: Any) -> Any:
    """A result as an array, unless a Tensor was given."""
    return found if isinstance(given, Tensor) else array_of_tensor(found)


def _raw(value: Any) -> Any:
    value = held(value)
    return value.detach()._data if isinstance(value, Tensor) else value


def _law(name: str, call: str, drawn: str, first: str = "np.random.seed(0)") -> Any:
    """A method that draws by the library's method of the same name.

    Args:
        name: The method.
        call: What its docstring's example calls.
        drawn: What that prints; NumPy keeps the numbers of its older kind of generator as they are.
        first: What the example does before.
    """

    @raising
    def method(self: Generator, *args: Any, **options: Any) -> Any:
        return _drawn(self._place(), name, args, options)

    method.__name__ = name
    method.__qualname__ = f"Generator.{name}"
    doc = f"Draw by ``numpy.random``'s ``{name}``, whose arguments it takes."
    method.__doc__ = with_example(doc, f">>> {first}", f">>> {call}", drawn)
    return method


class Generator:
    """A source of random tensors.

    Args:
        source: The library's generator; None means its module, of the active backend.
        backend: Whose library.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.random.Generator().normal(size=(2, 3)).shape
        (2, 3)
    """

    def __init__(self, source: Any = None, backend: Any = None) -> None:
        self._source = source
        self._backend = backend

    def _place(self) -> tuple[Any, Any]:
        backend = current_backend() if self._backend is None else self._backend
        return (backend.library.random if self._source is None else self._source), backend

    beta: Law2[float] = _law(
        "beta", "np.random.beta(2.0, 3.0, size=2)",
        "array([0.60358975, 0.79868334])",
    )  # fmt: skip
    binomial: Law2[int] = _law(
        "binomial", "np.random.binomial(10, 0.5, size=3)", "array([5, 6, 5])"
    )
    bytes: Callable[[int], builtins.bytes] = _law("bytes", "np.random.bytes(2)", "b'\\xac\\n'")
    chisquare: Law1[float] = _law(
        "chisquare", "np.random.chisquare(2.0, size=2)",
        "array([1.59174902, 2.51186153])",
    )  # fmt: skip
    dirichlet: Callable[..., ndarray] = _law(
        "dirichlet", "np.random.dirichlet([1.0, 1.0])",
        "array([0.38788988, 0.61211012])",
    )  # fmt: skip
    exponential: Law1[float] = _law(
        "exponential", "np.random.exponential(2.0, size=2)",
        "array([1.59174902, 2.51186153])",
    )  # fmt: skip
    f: Law2[float] = _law("f", "np.random.f(2.0, 3.0, size=2)", "array([0.5514189 , 0.21888638])")
    gamma: Law2[float] = _law(
        "gamma", "np.random.gamma(2.0, size=2)", "array([5.13882958, 2.23848091])"
    )
    geometric: Law1[int] = _law("geometric", "np.random.geometric(0.5, size=3)", "array([2, 2, 2])")
    gumbel: Law2[float] = _law(
        "gumbel", "np.random.gumbel(size=2)", "array([ 0.22831376, -0.22787694])"
    )
    hypergeometric: Law3[int] = _law(
        "hypergeometric", "np.random.hypergeometric(5, 5, 4, size=3)", "array([2, 2, 2])"
    )
    integers: Law2[int] = _law(
        "integers", "rng.integers(10, size=(2, 3)).shape",
        "(2, 3)", "rng = np.random.default_rng(0)",
    )  # fmt: skip
    laplace: Law2[float] = _law(
        "laplace", "np.random.laplace(size=2)", "array([0.10272733, 0.56278358])"
    )
    logistic: Law2[float] = _law(
        "logistic", "np.random.logistic(size=2)",
        "array([0.19587791, 0.92072284])",
    )  # fmt: skip
    lognormal: Law2[float] = _law(
        "lognormal", "np.random.lognormal(size=2)",
        "array([5.83603919, 1.49205924])",
    )  # fmt: skip
    logseries: Law1[int] = _law("logseries", "np.random.logseries(0.5, size=3)", "array([1, 1, 1])")
    multinomial: Callable[..., ndarray] = _law(
        "multinomial", "np.random.multinomial(6, [0.5, 0.5])", "array([3, 3])"
    )
    multivariate_normal: Callable[..., ndarray] = _law(
        "multivariate_normal",
        "np.random.multivariate_normal([0, 0], [[1, 0], [0, 1]], size=3).shape",
        "(3, 2)",
    )  # fmt: skip
    negative_binomial: Law2[int] = _law(
        "negative_binomial", "np.random.negative_binomial(3, 0.5, size=3)", "array([11,  0,  5])"
    )
    noncentral_chisquare: Law2[float] = _law(
        "noncentral_chisquare", "np.random.noncentral_chisquare(2.0, 1.0, size=2)",
        "array([ 4.52340779, 10.86235551])",
    )  # fmt: skip
    noncentral_f: Law3[float] = _law(
        "noncentral_f", "np.random.noncentral_f(2.0, 3.0, 1.0, size=2)",
        "array([0.60078919, 6.46088078])",
    )  # fmt: skip
    normal: Law2[float] = _law(
        "normal", "np.random.normal(10.0, 2.0, size=2)",
        "array([13.52810469, 10.80031442])",
    )  # fmt: skip
    pareto: Law1[float] = _law(
        "pareto", "np.random.pareto(3.0, size=2)",
        "array([0.30381098, 0.51989855])",
    )  # fmt: skip
    poisson: Law1[int] = _law("poisson", "np.random.poisson(4.0, size=3)", "array([6, 7, 1])")
    power: Law1[float] = _law(
        "power", "np.random.power(2.0, size=2)", "array([0.74081948, 0.84568869])"
    )
    rand: Sized = _law("rand", "np.random.rand(2)", "array([0.5488135 , 0.71518937])")
    randint: Law2[int] = _law("randint", "np.random.randint(10, size=3)", "array([5, 0, 3])")
    randn: Sized = _law("randn", "np.random.randn(2)", "array([1.76405235, 0.40015721])")
    random: Law0[float] = _law("random", "np.random.random(2)", "array([0.5488135 , 0.71518937])")
    random_sample: Law0[float] = _law(
        "random_sample", "np.random.random_sample(2)",
        "array([0.5488135 , 0.71518937])",
    )  # fmt: skip
    rayleigh: Law1[float] = _law(
        "rayleigh", "np.random.rayleigh(size=2)",
        "array([1.26164536, 1.58488534])",
    )  # fmt: skip
    seed: Callable[..., None] = _law("seed", "np.random.rand(2)", "array([0.5488135 , 0.71518937])")
    standard_cauchy: Law0[float] = _law(
        "standard_cauchy", "np.random.standard_cauchy(2)",
        "array([4.40839827, 0.43676244])",
    )  # fmt: skip
    standard_exponential: Law0[float] = _law(
        "standard_exponential", "np.random.standard_exponential(2)",
        "array([0.79587451, 1.25593076])",
    )  # fmt: skip
    standard_gamma: Law1[float] = _law(
        "standard_gamma", "np.random.standard_gamma(2.0, size=2)",
        "array([5.13882958, 2.23848091])",
    )  # fmt: skip
    standard_normal: Law0[float] = _law(
        "standard_normal", "np.random.standard_normal(2)",
        "array([1.76405235, 0.40015721])",
    )  # fmt: skip
    standard_t: Law1[float] = _law(
        "standard_t", "np.random.standard_t(3.0, size=2)",
        "array([ 1.67969022, -1.53369098])",
    )  # fmt: skip
    triangular: Law3[float] = _law(
        "triangular", "np.random.triangular(0.0, 1.0, 2.0, size=2)",
        "array([1.05006685, 1.24526742])",
    )  # fmt: skip
    uniform: Law2[float] = _law(
        "uniform", "np.random.uniform(1.0, 2.0, size=2)",
        "array([1.5488135 , 1.71518937])",
    )  # fmt: skip
    vonmises: Law2[float] = _law(
        "vonmises", "np.random.vonmises(0.0, 4.0, size=2)",
        "array([0.5664411 , 0.55977779])",
    )  # fmt: skip
    wald: Law2[float] = _law(
        "wald", "np.random.wald(1.0, 2.0, size=2)",
        "array([0.30787564, 0.75425984])",
    )  # fmt: skip
    weibull: Law1[float] = _law(
        "weibull", "np.random.weibull(2.0, size=2)",
        "array([0.89211799, 1.12068317])",
    )  # fmt: skip
    zipf: Law1[int] = _law("zipf", "np.random.zipf(3.0, size=3)", "array([1, 1, 1])")

    def shuffle(self, x: Any) -> None:
        """Put the elements of a list, or the slices of a tensor, in a random order.

        Args:
            x: What is written to.

        Example:
            >>> import tinytorch.numpy as np
            >>> x = [1, 2, 3]
            >>> np.random.shuffle(x)
            >>> sorted(x)
            [1, 2, 3]
        """
        if isinstance(x, Tensor):
            x.copy_(self.permutation(x))
        else:  # CuPy shuffles nothing that is on the host
            x[:] = [x[i] for i in self.permutation(len(x)).tolist()]

    @overload
    def permutation(self, x: Tensor) -> Tensor: ...
    @overload
    def permutation(self, x: Any) -> ndarray: ...
    def permutation(self, x: Any) -> Any:
        """The numbers below ``x``, or the slices of a tensor, in a random order.

        Args:
            x: A number, or a tensor of at least one dimension, to which the gradient flows.

        Example:
            >>> import tinytorch.numpy as np
            >>> np.random.seed(0)
            >>> np.random.permutation(4)
            array([2, 3, 1, 0])
        """
        source, backend = self._place()
        if isinstance(x, Integral):
            return _drawn((source, backend), "permutation", (int(x),), {})
        given = tensor_of(held(x), backend)
        order = backend.library.arange(given.shape[0])
        _drawn((source, backend), "shuffle", (order,), {})
        return _like(x, given[wrap(order, backend)])

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
        """Numbers below ``a``, or elements of a tensor, at random.

        Args:
            a: A number, or a tensor, of whose first dimension the slices are drawn.
            size: How many, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default yes.
            p: How probable each is; default all the same.

        Example:
            >>> import tinytorch.numpy as np
            >>> np.random.choice([10, 20, 30], size=2, p=[0, 1, 0])
            array([20, 20])
        """
        place = self._place()
        if p is not None:
            # CuPy divides the running sum of what it is given in place: integers do not hold it.
            p = tensor_of(held(p), place[1]).to("float64")
        if isinstance(a, Integral):
            return _drawn(place, "choice", (int(a), size, replace, p), {})
        given = tensor_of(held(a), place[1])
        places = held(_drawn(place, "choice", (given.shape[0], size, replace, p), {}))
        return _like(a, given[places])


def default_rng(seed: Any = None) -> Generator:
    """A new generator.

    Args:
        seed: A number, which gives the same tensors again; None, the default, gives new ones.

    Example:
        >>> import tinytorch.numpy as np
        >>> first, second = np.random.default_rng(0), np.random.default_rng(0)
        >>> np.array_equal(first.random(3), second.random(3))
        True
    """
    backend = current_backend()
    source = seed._source if isinstance(seed, Generator) else seed
    return Generator(backend.library.random.default_rng(source), backend)


def RandomState(seed: Any = None) -> Generator:
    """A new generator of NumPy's older kind.

    Args:
        seed: A number, which gives the same tensors again; None, the default, gives new ones.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.random.RandomState(0).rand(2)
        array([0.5488135 , 0.71518937])
    """
    backend = current_backend()
    return Generator(backend.library.random.RandomState(seed), backend)


#: What NumPy's functions of this module draw from.
_shared = Generator()

beta: Law2[float] = _shared.beta
binomial: Law2[int] = _shared.binomial
bytes: Callable[[int], builtins.bytes] = _shared.bytes
chisquare: Law1[float] = _shared.chisquare
choice = _shared.choice
dirichlet: Callable[..., ndarray] = _shared.dirichlet
exponential: Law1[float] = _shared.exponential
f: Law2[float] = _shared.f
gamma: Law2[float] = _shared.gamma
geometric: Law1[int] = _shared.geometric
gumbel: Law2[float] = _shared.gumbel
hypergeometric: Law3[int] = _shared.hypergeometric
laplace: Law2[float] = _shared.laplace
logistic: Law2[float] = _shared.logistic
lognormal: Law2[float] = _shared.lognormal
logseries: Law1[int] = _shared.logseries
multinomial: Callable[..., ndarray] = _shared.multinomial
multivariate_normal: Callable[..., ndarray] = _shared.multivariate_normal
negative_binomial: Law2[int] = _shared.negative_binomial
noncentral_chisquare: Law2[float] = _shared.noncentral_chisquare
noncentral_f: Law3[float] = _shared.noncentral_f
normal: Law2[float] = _shared.normal
pareto: Law1[float] = _shared.pareto
permutation = _shared.permutation
poisson: Law1[int] = _shared.poisson
power: Law1[float] = _shared.power
rand: Sized = _shared.rand
randint: Law2[int] = _shared.randint
randn: Sized = _shared.randn
random: Law0[float] = _shared.random
random_sample: Law0[float] = _shared.random_sample
rayleigh: Law1[float] = _shared.rayleigh
seed: Callable[..., None] = _shared.seed
shuffle: Callable[[Any], None] = _shared.shuffle
standard_cauchy: Law0[float] = _shared.standard_cauchy
standard_exponential: Law0[float] = _shared.standard_exponential
standard_gamma: Law1[float] = _shared.standard_gamma
standard_normal: Law0[float] = _shared.standard_normal
standard_t: Law1[float] = _shared.standard_t
triangular: Law3[float] = _shared.triangular
uniform: Law2[float] = _shared.uniform
vonmises: Law2[float] = _shared.vonmises
wald: Law2[float] = _shared.wald
weibull: Law1[float] = _shared.weibull
zipf: Law1[int] = _shared.zipf
