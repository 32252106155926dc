"""The von Mises distribution of angles."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..ops.random.sampling import rand
from ..ops.special.bessel_functions import i0e, i1e
from ..state import no_grad
from . import constraints
from ._location import _MeanAtLocation
from .utils import broadcast_all

__all__ = ["VonMises"]


class VonMises(_MeanAtLocation):
    """The von Mises distribution, an analog of the normal distribution for angles.

    Args:
        loc: The mean direction, in radians.
        concentration: The concentration of the angles around the mean direction.
        validate_args: Whether parameters and values are checked.

    ``mean`` and ``variance`` are the circular mean and variance. Samples lie in ``[-pi, pi)``.
    They are drawn in float64, because in float32 nearly all proposals are rejected if the
    concentration is small.

    Example:
        >>> distribution = tt.distributions.VonMises(tt.tensor([0.0]), tt.tensor([2.0]))
        >>> distribution.variance
        tensor([0.3022])

    Reference:
        D. J. Best and N. I. Fisher, "Efficient simulation of the von Mises distribution", Applied
        Statistics 28 (1979).
    """

    loc: Tensor
    concentration: Tensor

    arg_constraints: Any = {"loc": constraints.real, "concentration": constraints.positive}
    support: Any = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: Any = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def variance(self) -> Tensor:
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    @property
    def _loc(self) -> Tensor:
        """``loc`` in float64, in which samples are drawn."""
        return self.loc.double()

    @property
    def _concentration(self) -> Tensor:
        """``concentration`` in float64."""
        return self.concentration.double()

    @property
    def _proposal_r(self) -> Tensor:
        """Parameter of the wrapped Cauchy distribution that samples are proposed from."""
        return _proposal_parameter(self._concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        kappa = self.concentration
        below = (value - self.loc).cos() - 1  # i0e(kappa) is i0(kappa) * exp(-kappa)
        return kappa * below - math.log(2 * math.pi) - i0e(kappa).log()

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            drawn = _deviations(self._concentration, self._proposal_r, shape)
            angle = (drawn + math.pi + self._loc) % (2 * math.pi) - math.pi
            return angle.to(self.loc.dtype)


def _proposal_parameter(kappa: Tensor) -> Tensor:
    """Parameter of the wrapped Cauchy distribution of proposals; near 0 its Taylor series."""
    tau = 1 + (1 + 4 * kappa**2).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
    return ((1 + rho**2) / (2 * rho)).where(kappa >= 1e-5, 1 / kappa + kappa)


def _deviations(kappa: Tensor, spread: Tensor, shape: Size) -> Tensor:
    """Sample deviations from the mean direction by rejection.

    Args:
        kappa: The concentration.
        spread: Parameter of the wrapped Cauchy distribution of the proposals.
        shape: Shape of the samples.
    """
    angle = kappa.new_zeros(shape)
    done = angle != angle
    while not bool(done.all()):
        u1, u2, u3 = rand((3, *shape), dtype=kappa.dtype, device=kappa.device).unbind()
        z = (math.pi * u1).cos()
        cosine = (1 + spread * z) / (spread + z)
        c = kappa * (spread - cosine)
        accepted = (c * (2 - c) > u2) | ((c / u2).log() + 1 - c >= 0)
        # An accepted sample may be replaced in a later round, as in PyTorch.
        angle = ((u3 - 0.5).sign() * cosine.acos()).where(accepted, angle)
        done = done | accepted
    return angle
