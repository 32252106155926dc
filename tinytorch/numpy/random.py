"""Random tensors by NumPy's names, drawn by the ``random`` of the active backend's library.

On the NumPy backend a seed gives NumPy's own numbers. They have nothing to do with
``tinytorch.manual_seed``, which seeds PyTorch's. A law that the library lacks is an
AttributeError that names the backend.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..state import current_backend
from .arrays import ndarray
from .functions.conversion import host
from .generators import Generator as Generator
from .generators import Law0, Law1, Law2, Law3, Sized
from .generators import RandomState as RandomState
from .namespace import detached

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
        >>> import tinytorch.numpy as np
        >>> first, second = np.random.default_rng(0), np.random.default_rng(0)
        >>> np.array_equal(first.random(3), second.random(3))
        True
    """
    if isinstance(seed, Generator):
        return seed
    backend = current_backend()
    source = seed._source if isinstance(seed, RandomState) else detached("default_rng", seed)
    return Generator.of(backend.library.random.default_rng(source), backend)


#: What NumPy's functions of this module draw from.
_shared = RandomState.of(None)

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
get_state: Callable[..., Any] = _shared.get_state
set_state: Callable[..., None] = _shared.set_state
random_integers: Law2[int] = _shared.random_integers
ranf: Law0[float] = _shared.random_sample
sample: Law0[float] = _shared.random_sample
