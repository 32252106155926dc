"""Random tensors by NumPy's names, drawn by the ``random`` of the active backend's library.

On the NumPy backend a seed gives NumPy's own numbers. They have nothing to do with
``tinytorch.manual_seed``, which seeds PyTorch's. A law that the library lacks is an
AttributeError that names the backend.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

from .. import _state
from .._tensor import Tensor, wrap
from ._dialect import raising, tensor_of


def _drawn(place: tuple[Any, Any], name: str, args: Any, options: dict[str, Any]) -> Any:
    """What a function of a random source gives: arrays as tensors, numbers as Python's."""
    source, backend = place
    if not hasattr(source, name):
        raise AttributeError(f"the random source of backend {backend.name!r} has no {name!r}")
    raw = {key: _raw(value) for key, value in options.items()}
    found = getattr(source, name)(*map(_raw, args), **raw)
    if isinstance(found, backend.array_type):
        return wrap(found, backend)
    return found.item() if hasattr(found, "dtype") else found


def _raw(value: Any) -> Any:
    return value.detach()._data if isinstance(value, Tensor) else value


def _law(name: str) -> Any:
    """A method that draws by the library's method of the same name."""

    @raising
    def method(self: Generator, *args: Any, **options: Any) -> Any:
        return _drawn(self._place(), name, args, options)

    method.__name__ = name
    method.__qualname__ = f"Generator.{name}"
    method.__doc__ = f"Draw by ``numpy.random``'s ``{name}``, whose arguments it takes."
    return method


class Generator:
    """A source of random tensors.

    Args:
        source: The library's generator; None means its module, of the active backend.
        backend: Whose library.
    """

    def __init__(self, source: Any = None, backend: Any = None) -> None:
        self._source = source
        self._backend = backend

    def _place(self) -> tuple[Any, Any]:
        backend = _state.current_backend() if self._backend is None else self._backend
        return (backend.library.random if self._source is None else self._source), backend

    beta = _law("beta")
    binomial = _law("binomial")
    bytes = _law("bytes")
    chisquare = _law("chisquare")
    dirichlet = _law("dirichlet")
    exponential = _law("exponential")
    f = _law("f")
    gamma = _law("gamma")
    geometric = _law("geometric")
    gumbel = _law("gumbel")
    hypergeometric = _law("hypergeometric")
    integers = _law("integers")
    laplace = _law("laplace")
    logistic = _law("logistic")
    lognormal = _law("lognormal")
    logseries = _law("logseries")
    multinomial = _law("multinomial")
    multivariate_normal = _law("multivariate_normal")
    negative_binomial = _law("negative_binomial")
    noncentral_chisquare = _law("noncentral_chisquare")
    noncentral_f = _law("noncentral_f")
    normal = _law("normal")
    pareto = _law("pareto")
    poisson = _law("poisson")
    power = _law("power")
    rand = _law("rand")
    randint = _law("randint")
    randn = _law("randn")
    random = _law("random")
    random_sample = _law("random_sample")
    rayleigh = _law("rayleigh")
    seed = _law("seed")
    standard_cauchy = _law("standard_cauchy")
    standard_exponential = _law("standard_exponential")
    standard_gamma = _law("standard_gamma")
    standard_normal = _law("standard_normal")
    standard_t = _law("standard_t")
    triangular = _law("triangular")
    uniform = _law("uniform")
    vonmises = _law("vonmises")
    wald = _law("wald")
    weibull = _law("weibull")
    zipf = _law("zipf")

    def shuffle(self, x: Any) -> None:
        """Put the elements of a list, or the slices of a tensor, in a random order.

        Args:
            x: What is written to.
        """
        if not isinstance(x, Tensor):
            self._place()[0].shuffle(x)
            return
        x.copy_(self.permutation(x))

    def permutation(self, x: Any) -> Tensor:
        """The numbers below ``x``, or the slices of a tensor, in a random order.

        Args:
            x: A number, or a tensor of at least one dimension, to which the gradient flows.
        """
        source, backend = self._place()
        if isinstance(x, Integral):
            return _drawn((source, backend), "permutation", (int(x),), {})  # type: ignore
        given = tensor_of(x, backend)
        order = backend.library.arange(given.shape[0])
        _drawn((source, backend), "shuffle", (order,), {})
        return given[wrap(order, backend)]  # type: ignore[no-any-return]

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Numbers below ``a``, or elements of a tensor, at random.

        Args:
            a: A number, or a tensor, of whose first dimension the slices are drawn.
            size: How many, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default yes.
            p: How probable each is; default all the same.
        """
        place = self._place()
        if isinstance(a, Integral):
            return _drawn(place, "choice", (int(a), size, replace, p), {})
        given = tensor_of(a, place[1])
        return given[_drawn(place, "choice", (given.shape[0], size, replace, p), {})]


def default_rng(seed: Any = None) -> Generator:
    """A new generator.

    Args:
        seed: A number, which gives the same tensors again; None, the default, gives new ones.
    """
    backend = _state.current_backend()
    source = seed._source if isinstance(seed, Generator) else seed
    return Generator(backend.library.random.default_rng(source), backend)


def RandomState(seed: Any = None) -> Generator:  # noqa: N802
    """A new generator of NumPy's older kind.

    Args:
        seed: A number, which gives the same tensors again; None, the default, gives new ones.
    """
    backend = _state.current_backend()
    return Generator(backend.library.random.RandomState(seed), backend)


#: What NumPy's functions of this module draw from.
_shared = Generator()
_Draw = Callable[..., Any]

beta: _Draw = _shared.beta
binomial: _Draw = _shared.binomial
bytes: _Draw = _shared.bytes
chisquare: _Draw = _shared.chisquare
choice: _Draw = _shared.choice
dirichlet: _Draw = _shared.dirichlet
exponential: _Draw = _shared.exponential
f: _Draw = _shared.f
gamma: _Draw = _shared.gamma
geometric: _Draw = _shared.geometric
gumbel: _Draw = _shared.gumbel
hypergeometric: _Draw = _shared.hypergeometric
laplace: _Draw = _shared.laplace
logistic: _Draw = _shared.logistic
lognormal: _Draw = _shared.lognormal
logseries: _Draw = _shared.logseries
multinomial: _Draw = _shared.multinomial
multivariate_normal: _Draw = _shared.multivariate_normal
negative_binomial: _Draw = _shared.negative_binomial
noncentral_chisquare: _Draw = _shared.noncentral_chisquare
noncentral_f: _Draw = _shared.noncentral_f
normal: _Draw = _shared.normal
pareto: _Draw = _shared.pareto
permutation: _Draw = _shared.permutation
poisson: _Draw = _shared.poisson
power: _Draw = _shared.power
rand: _Draw = _shared.rand
randint: _Draw = _shared.randint
randn: _Draw = _shared.randn
random: _Draw = _shared.random
random_sample: _Draw = _shared.random_sample
rayleigh: _Draw = _shared.rayleigh
seed: _Draw = _shared.seed
shuffle: _Draw = _shared.shuffle
standard_cauchy: _Draw = _shared.standard_cauchy
standard_exponential: _Draw = _shared.standard_exponential
standard_gamma: _Draw = _shared.standard_gamma
standard_normal: _Draw = _shared.standard_normal
standard_t: _Draw = _shared.standard_t
triangular: _Draw = _shared.triangular
uniform: _Draw = _shared.uniform
vonmises: _Draw = _shared.vonmises
wald: _Draw = _shared.wald
weibull: _Draw = _shared.weibull
zipf: _Draw = _shared.zipf
