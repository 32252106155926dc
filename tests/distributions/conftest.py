"""Fixture of the tests of distributions: arguments are validated in both libraries."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def arguments_are_checked() -> None:
    """Switch on the validation of arguments; the import of PyTorch's compiler switches it off."""
    for name in ("tinytorch.distributions", "torch.distributions"):
        if name in sys.modules:
            sys.modules[name].Distribution.set_default_validate_args(True)
