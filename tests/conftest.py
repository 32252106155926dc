"""What every test shares: fixed seeds."""

from __future__ import annotations

import random

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Seed the generators a test may draw its samples from, so that a failure repeats."""
    random.seed(0)
    np.random.seed(0)
