"""``get_device_module``: the module with what is special to a kind of device."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt


def test_get_device_module_returns_the_module_of_a_device() -> None:
    assert tt.get_device_module("cpu") is tt.cpu
    assert tt.get_device_module("cpu:0") is tt.cpu
    assert tt.get_device_module(tt.device("cpu")) is tt.cpu
    assert tt.get_device_module("cuda") is tt.cuda
    assert tt.get_device_module(tt.device("cuda", 1)) is tt.cuda


def test_get_device_module_without_argument_is_of_the_active_device() -> None:
    with tt.backend_context("numpy"):
        assert tt.get_device_module() is tt.cpu


@pytest.mark.parametrize(
    ("device", "text"),
    [
        (3, "Invalid value of device '3', expect torch.device, str, or None"),
        ("meta", "Device 'meta' does not have a corresponding module registered"),
        ("foo", "foo"),
    ],
)
def test_get_device_module_raises_pytorchs_errors(torch: Any, device: Any, text: str) -> None:
    for library in (tt, torch):
        with pytest.raises(RuntimeError, match=text):
            library.get_device_module(device)
