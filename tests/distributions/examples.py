"""Distributions as functions of a library and the arrays of their parameters."""

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

U = np.array([[0.2, 0.49951, 0.9], [0.5004, 0.05, 0.75]])
C = np.array([[0.4, 0.0, -0.5], [0.2, -0.9, 0.3]])
W = np.array([[[0.5, -0.2], [0.1, 0.8], [-0.7, 0.3]], [[1.5, 0.2], [0.0, 0.3], [-0.1, 0.6]]])

Example = tuple[Callable[..., Any], tuple[Any, ...]]
#: By name, a function of ``distributions`` and tensors, and the arrays behind the tensors.
EXAMPLES: dict[str, Example] = {
    "Bernoulli": (lambda d, p: d.Bernoulli(p), (P,)),
    "Bernoulli by logits": (lambda d, z: d.Bernoulli(logits=z), (L,)),
    "Beta": (lambda d, a, b: d.Beta(a, b), (A, B)),
    "Binomial": (lambda d, p: d.Binomial(7, p), (P,)),
    "Binomial by logits": (lambda d, z: d.Binomial(4, logits=z), (L,)),
    "Categorical": (lambda d, a: d.Categorical(a), (A,)),
    "Categorical by logits": (lambda d, z: d.Categorical(logits=z), (L,)),
    "Cauchy": (lambda d, m, s: d.Cauchy(m, s), (L, A)),
    "Chi2": (lambda d, a: d.Chi2(a), (A,)),
    "ContinuousBernoulli": (lambda d, p: d.ContinuousBernoulli(p), (U,)),
    "ContinuousBernoulli by logits": (lambda d, z: d.ContinuousBernoulli(logits=z), (L,)),
    "Dirichlet": (lambda d, a: d.Dirichlet(a), (A,)),
    "Exponential": (lambda d, r: d.Exponential(r), (A,)),
    "FisherSnedecor": (lambda d, a, b: d.FisherSnedecor(a, 4 * b + 1), (A, B)),
    "Gamma": (lambda d, a, b: d.Gamma(a, b), (A, B)),
    "GeneralizedPareto": (lambda d, m, s, c: d.GeneralizedPareto(m, s, c), (L, A, C)),
    "Geometric": (lambda d, p: d.Geometric(p), (P,)),
    "Geometric by logits": (lambda d, z: d.Geometric(logits=z), (L,)),
    "Gumbel": (lambda d, m, s: d.Gumbel(m, s), (L, A)),
    "HalfCauchy": (lambda d, s: d.HalfCauchy(s), (A,)),
    "HalfNormal": (lambda d, s: d.HalfNormal(s), (A,)),
    "Independent": (lambda d, m, s: d.Independent(d.Normal(m, s), 1), (L, A)),
    "InverseGamma": (lambda d, a, b: d.InverseGamma(a, b), (A, B)),
    "Kumaraswamy": (lambda d, a, b: d.Kumaraswamy(a, b), (A, B)),
    "LKJCholesky": (lambda d, c: d.LKJCholesky(3, c), (A[0],)),
    "Laplace": (lambda d, m, s: d.Laplace(m, s), (L, A)),
    "LogNormal": (lambda d, m, s: d.LogNormal(m, s), (L, A)),
    "LogisticNormal": (lambda d, m, s: d.LogisticNormal(m, s), (L, A)),
    "LowRankMultivariateNormal": (
        lambda d, m, w, s: d.LowRankMultivariateNormal(m, w, s), (L, W, A)),
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
    "Uniform of shares": (lambda d, p: d.Uniform(p / 2, p), (P,)),
    "VonMises": (lambda d, m, k: d.VonMises(m, k), (L, A)),
    "Weibull": (lambda d, s, k: d.Weibull(s, k), (A, B + 0.5)),
    "Wishart": (lambda d, n, c: d.Wishart(n, c), (A[0] + 3, M)),
    "Wishart by precision": (lambda d, n, c: d.Wishart(n, precision_matrix=c), (A[0] + 3, M)),
    "Wishart by scale": (lambda d, n, c: d.Wishart(n, scale_tril=c), (A[0] + 3, T)),
}  # fmt: skip

#: Pairs of which the first has values that the second cannot take.
FOREIGN = [
    *((p, q) for p in ("Gumbel", "Laplace", "Normal") for q in (
        "Beta", "ContinuousBernoulli", "Exponential", "Gamma", "Pareto", "Uniform")),
    *((p, q) for p in ("Exponential", "Gamma", "Pareto") for q in (
        "Beta", "ContinuousBernoulli", "Uniform")),
    *((p, "Pareto") for p in ("Beta", "ContinuousBernoulli", "Exponential", "Gamma")),
    ("Poisson", "Bernoulli"), ("Poisson", "Binomial"),
]  # fmt: skip
#: Pairs with a formula for the divergence, besides each distribution with itself.
PAIRS = [
    ("Bernoulli", "Poisson"), ("Beta", "ContinuousBernoulli"), ("Beta", "Exponential"),
    ("Beta", "Gamma"), ("Beta", "Normal"), ("Beta", "Uniform"), ("Chi2", "Gamma"),
    ("ContinuousBernoulli", "Exponential"), ("ContinuousBernoulli", "Normal"),
    ("Exponential", "Gamma"), ("Exponential", "Gumbel"), ("Exponential", "Normal"),
    ("Gamma", "Exponential"), ("Gamma", "Gumbel"), ("Gamma", "Normal"), ("Gumbel", "Normal"),
    ("Laplace", "Normal"), ("LowRankMultivariateNormal", "MultivariateNormal"),
    ("MultivariateNormal", "LowRankMultivariateNormal"), ("Normal", "Gumbel"),
    ("Normal", "Laplace"), ("Pareto", "Exponential"), ("Pareto", "Gamma"), ("Pareto", "Normal"),
    ("Uniform", "Beta"), ("Uniform", "ContinuousBernoulli"), ("Uniform", "Exponential"),
    ("Uniform", "Gamma"), ("Uniform", "Gumbel"), ("Uniform", "Normal"), ("Uniform", "Pareto"),
    ("Uniform of shares", "Beta"), ("Uniform of shares", "ContinuousBernoulli"),
    ("Uniform of shares", "Uniform"),
]  # fmt: skip
SELF = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Categorical by logits", "Cauchy",
    "ContinuousBernoulli", "ContinuousBernoulli by logits", "Dirichlet", "Exponential", "Gamma",
    "Geometric", "Gumbel", "HalfNormal", "Independent", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MultivariateNormal", "MultivariateNormal by scale", "Normal",
    "OneHotCategorical", "Pareto", "Poisson", "Uniform",
]  # fmt: skip
