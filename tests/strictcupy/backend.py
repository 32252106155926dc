"""The backend ``strict``: CuPy's own backend class on the stand-in, a plug-in of tinytorch."""

from __future__ import annotations

from typing import Any

import strictcupy
from tinytorch.backends.cupy import CupyBackend


class StrictBackend(CupyBackend):
    """Every line that runs on a GPU, on a library that runs anywhere and refuses more.

    Checks raise at once, so that the whole suite, written for any backend, can run on it.
    """

    name = "strict"
    device_type = "strict"

    def __init__(self) -> None:
        super().__init__()
        self.immediate = True

    def open(self) -> tuple[Any, Any]:
        return strictcupy, strictcupy.cupyx
