"""What is skipped beside an older PyTorch: tests that there are, and none beside the right one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import torch_versions

PATTERNS = [pattern for patterns in torch_versions.CHANGES.values() for pattern in patterns]
EXAMPLES = [
    (
        "nn/test_parity_losses.py::"
        "test_modules_of_losses_are_pytorchs[nn.LinearCrossEntropyLoss(5, 3)-inputs23]"
    ),
    (
        "nn/test_parity_layers.py::"
        "test_the_repr_of_layers_is_pytorchs[nn.GroupNorm(1, 3, affine=False)]"
    ),
    (
        "nn/test_parity_losses.py::"
        "test_losses_raise_pytorchs_errors[F.cross_entropy(x, t([0, 1, 2]), weight=lib.ones(3))]"
    ),
    "ops/random/test_random.py::test_rand_is_torchs[17-float16]",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_is_about_a_test(pattern: str) -> None:
    file, _, rest = pattern.partition("::")
    files = [Path(__file__).parent / file]
    if alternatives := re.search(r"\((.*?)\)", file):
        files = [
            Path(__file__).parent / file.replace(alternatives[0], word)
            for word in alternatives[1].split("|")
        ]
    for path in files:
        functions = re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
        name = rest.partition(r"\[")[0]
        assert any(re.fullmatch(name, function) or name == ".*" for function in functions), path


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_older_pytorch_cannot_pass_them(name: str) -> None:
    reason = torch_versions.needs_newer(name, (2, 11))
    assert reason is not None and "PyTorch 2.11 is older: since 2.13" in reason
    assert torch_versions.needs_newer(name, (2, 13)) is None
    assert torch_versions.needs_newer(name, None) is None


@pytest.mark.parametrize(
    "name",
    [
        (
            "nn/test_parity_layers.py::"
            "test_output_and_gradients_of_layers_are_pytorchs[nn.Linear(3, 4, bias=False)-inputs1]"
        ),
        (
            "nn/test_parity_losses.py::"
            "test_losses_raise_pytorchs_errors[F.cross_entropy(x, t([0, 1, 5]))]"
        ),
        "ops/random/test_random.py::test_rand_is_torchs[17-float32]",
    ],
)
def test_other_tests_run_beside_any_pytorch(name: str) -> None:
    assert torch_versions.needs_newer(name, (2, 11)) is None
