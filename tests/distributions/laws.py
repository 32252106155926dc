"""Distributions as functions of the library: a law, its parameters, and whether they are exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

A = np.array([[0.4, 1.3, 2.5], [3.0, 0.7, 1.0]])
B = np.array([[1.1, 0.6, 2.0], [0.5, 5.0, 1.5]])
P = np.array([[0.2, 0.5, 0.9], [0.4, 0.05, 0.75]])
L = np.array([[-1.0, 0.3, 2.0], [0.0, -3.0, 1.2]])
M = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
T = np.array([[1.2, 0.0, 0.0], [0.3, 0.8, 0.0], [-0.5, 0.1, 1.5]])

Law = tuple[Callable[..., Any], tuple[Any, ...]]
#: By name, a function of ``distributions`` and tensors, and the arrays behind the tensors.
LAWS: dict[str, Law] = {
    "Bernoulli": (lambda d, p: d.Bernoulli(p), (P,)),
    "Bernoulli by logits": (lambda d, z: d.Bernoulli(logits=z), (L,)),
    "Beta": (lambda d, a, b: d.Beta(a, b), (A, B)),
    "Binomial": (lambda d, p: d.Binomial(7, p), (P,)),
    "Binomial by logits": (lambda d, z: d.Binomial(4, logits=z), (L,)),
    "Categorical": (lambda d, a: d.Categorical(a), (A,)),
    "Categorical by logits": (lambda d, z: d.Categorical(logits=z), (L,)),
    "Cauchy": (lambda d, m, s: d.Cauchy(m, s), (L, A)),
    "Chi2": (lambda d, a: d.Chi2(a), (A,)),
    "Dirichlet": (lambda d, a: d.Dirichlet(a), (A,)),
    "Exponential": (lambda d, r: d.Exponential(r), (A,)),
    "FisherSnedecor": (lambda d, a, b: d.FisherSnedecor(a, 4 * b + 1), (A, B)),
    "Gamma": (lambda d, a, b: d.Gamma(a, b), (A, B)),
    "Geometric": (lambda d, p: d.Geometric(p), (P,)),
    "Geometric by logits": (lambda d, z: d.Geometric(logits=z), (L,)),
    "Gumbel": (lambda d, m, s: d.Gumbel(m, s), (L, A)),
    "HalfCauchy": (lambda d, s: d.HalfCauchy(s), (A,)),
    "HalfNormal": (lambda d, s: d.HalfNormal(s), (A,)),
    "Independent": (lambda d, m, s: d.Independent(d.Normal(m, s), 1), (L, A)),
    "InverseGamma": (lambda d, a, b: d.InverseGamma(a, b), (A, B)),
    "Laplace": (lambda d, m, s: d.Laplace(m, s), (L, A)),
    "LogNormal": (lambda d, m, s: d.LogNormal(m, s), (L, A)),
    "MixtureSameFamily": (
        lambda d, a, m, s: d.MixtureSameFamily(d.Categorical(a), d.Normal(m, s)), (A, L, B)),
    "a mixture of vectors": (
        lambda d, a, m, s: d.MixtureSameFamily(
            d.Categorical(a[0, :2]), d.Independent(d.Normal(m, s), 1)), (A, L, B)),
    "Multinomial": (lambda d, a: d.Multinomial(6, a), (A,)),
    "MultivariateNormal": (lambda d, m, c: d.MultivariateNormal(m, c), (L, M)),
    "MultivariateNormal by precision": (
        lambda d, m, c: d.MultivariateNormal(m, precision_matrix=c), (L, M)),
    "MultivariateNormal by scale": (
        lambda d, m, c: d.MultivariateNormal(m, scale_tril=c), (L, T)),
    "NegativeBinomial": (lambda d, a, p: d.NegativeBinomial(a, p), (A, P)),
    "Normal": (lambda d, m, s: d.Normal(m, s), (L, A)),
    "Normal of a number": (lambda d, s: d.Normal(0.5, s), (A,)),
    "OneHotCategorical": (lambda d, a: d.OneHotCategorical(a), (A,)),
    "OneHotCategoricalStraightThrough": (
        lambda d, a: d.OneHotCategoricalStraightThrough(logits=a), (L,)),
    "Pareto": (lambda d, s, a: d.Pareto(s, a), (A, B)),
    "Poisson": (lambda d, r: d.Poisson(r), (A,)),
    "RelaxedBernoulli": (lambda d, t, p: d.RelaxedBernoulli(t, p), (np.array(0.7), P)),
    "RelaxedOneHotCategorical": (
        lambda d, t, a: d.RelaxedOneHotCategorical(t, a), (np.array(0.7), A)),
    "StudentT": (lambda d, n, m, s: d.StudentT(n, m, s), (B + 1, L, A)),
    "TransformedDistribution": (
        lambda d, m, s: d.TransformedDistribution(
            d.Normal(m, s), [d.TanhTransform(), d.AffineTransform(1.0, -2.0)]), (L, A)),
    "a transformed vector": (
        lambda d, m, s: d.TransformedDistribution(
            d.Normal(m, s), d.StickBreakingTransform()), (L, A)),
    "Uniform": (lambda d, low, width: d.Uniform(low, low + width), (L, A)),
}  # fmt: skip

#: Pairs that there is a formula for, besides each law with itself.
PAIRS = [
    ("Exponential", "Gamma"), ("Exponential", "Normal"), ("Gamma", "Exponential"),
    ("Gamma", "Normal"), ("Laplace", "Normal"), ("Normal", "Laplace"), ("Uniform", "Normal"),
    ("Chi2", "Gamma"),
]  # fmt: skip
SELF = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Categorical by logits", "Cauchy", "Dirichlet",
    "Exponential", "Gamma", "Geometric", "HalfNormal", "Independent", "Laplace", "LogNormal",
    "MultivariateNormal", "MultivariateNormal by scale", "Normal", "OneHotCategorical", "Poisson",
    "Uniform",
]  # fmt: skip
