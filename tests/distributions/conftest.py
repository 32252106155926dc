"""What the tests of distributions share."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def arguments_are_checked() -> None:
    """In PyTorch, too, where its compiler, which a test elsewhere may wake, has switched it off."""
    for name in ("tinytorch.distributions", "torch.distributions"):
        if name in sys.modules:
            sys.modules[name].Distribution.set_default_validate_args(True)
