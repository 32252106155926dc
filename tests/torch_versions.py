"""Tests of behavior that is new in PyTorch 2.13, by change.

With an older PyTorch as the oracle such a test is skipped, and the reason names the change.
"""

from __future__ import annotations

import importlib.metadata
import re

#: The PyTorch that the tests are written against.
SINCE = (2, 13)
#: Changes of PyTorch, and the tests that depend on each.
CHANGES = {
    "linear_cross_entropy is new": (
        r"nn/test_parity_losses.py::test_linear_cross_entropy_accepts_pytorchs_options\[",
        r"nn/test_parity_losses.py::.*\[(linear_cross_entropy|nn\.LinearCrossEntropyLoss)",
        r"nn/test_parity_init.py::test_initial_weights_(of_layers|in_another_dtype)_are_pytorchs\[<lambda>12\]",
    ),
    "the norms have an argument bias": (
        r"nn/test_parity_layers.py::test_arguments_of_layers_are_pytorchs\[\w*(Batch|Group|Instance)Norm",
        r"nn/test_parity_(layers|spatial).py::test_the_repr_of_\w*layers_is_pytorchs\[nn\.\w*Norm",
        r"nn/test_parity_(layers|spatial).py::test_output_and_gradients_of_\w+_are_pytorchs\[nn\.\w+Norm\w*\(.*bias=False",
        r"nn/test_parity_transformer.py::test_repr_and_initial_weights_of_transformers_are_pytorchs",
    ),
    "trunc_normal_ draws again instead of using erfinv": (
        r"nn/test_parity_init.py::test_initializers_fill_a_tensor_as_pytorchs\[trunc_normal_",
    ),
    "float16 is drawn otherwise": (
        r"ops/random/test_random.py::test_randn?_is_torchs\[.*float16",
        r"ops/random/test_random_inplace.py::test_in_place_random_fills_are_pytorchs\[(normal_|uniform_).*float16",
        r"ops/random/test_random_inplace.py::test_uniform_rounds_as_torch\[float16",
    ),
    "losses of classes word their errors otherwise": (
        r"nn/test_parity_losses.py::test_losses_raise_pytorchs_errors\[F\.(cross_entropy|\w+_margin_loss|nll_loss).*weight",
        r"nn/test_parity_adaptive.py::test_adaptive_softmax_raises_pytorchs_errors\[<lambda>5\]",
    ),
    "line searches of LBFGS end at max_eval": (
        r"optim/test_against_torch.py::test_lbfgs_follows_the_same_path\[setting[567]",
    ),
    "interpolate has lanczos": (
        r"ops/nn/test_resampling.py::test_antialiased_interpolation_is_pytorchs\[.*lanczos",
    ),
    "aminmax and the copies of views have second derivatives": (
        r"ops/reduce/test_reduction.py::test_results_and_derivatives_of_reductions_are_pytorchs\[aminmax",
        r"ops/shape/test_shape.py::test_results_and_derivatives_of_shape_functions_are_pytorchs\[copies",
    ),
}


def installed_version() -> tuple[int, int] | None:
    """Version of the installed PyTorch, without an import of it; None if it is not installed."""
    try:
        major, minor = importlib.metadata.version("torch").split(".")[:2]
    except importlib.metadata.PackageNotFoundError:
        return None
    return int(major), int(minor)


def needs_newer(name: str, version: tuple[int, int] | None) -> str | None:
    """Reason for which a test, by its path below ``tests``, needs a newer PyTorch, or None."""
    if version is None or version >= SINCE:
        return None
    for change, patterns in CHANGES.items():
        if any(re.match(pattern, name) for pattern in patterns):
            return f"PyTorch {version[0]}.{version[1]} is older: since 2.13 {change}"
    return None
