"""Every public name of PyTorch's is here, or on the list of those left out, and no other is."""

from __future__ import annotations

import importlib.util

import pytest

from tests import torch_versions
from tests.compat.names_left_out import LEFT_OUT, UNTOUCHED

pytestmark = pytest.mark.torch


def test_every_public_name_is_here_or_left_out() -> None:
    from tests.compat.names import compare

    if torch_versions.installed_version() != torch_versions.SINCE:
        pytest.skip("the list is of the names of one version")
    missing, idle, count, total = compare()
    assert not missing, "neither here nor in names_left_out"
    assert not idle, "in names_left_out, and not missing"
    assert total > 6000 and 0 < count < total / 6


def test_every_reason_is_one_line() -> None:
    for why in (*LEFT_OUT, *UNTOUCHED.values()):
        assert 0 < len(why) <= 80 and "\n" not in why


def test_modules_that_are_not_looked_into_are_pytorchs() -> None:
    for names in UNTOUCHED:
        for name in names.split():
            assert importlib.util.find_spec(name) is not None, name
