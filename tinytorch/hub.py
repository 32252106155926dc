"""``torch.hub`` for programs that name it: a folder for downloads, and nothing is downloaded."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from typing import Any, NoReturn
from urllib.parse import urlparse as urlparse

__all__ = [
    "HASH_REGEX", "download_url_to_file", "get_dir", "help", "list", "load",
    "load_state_dict_from_url", "set_dir",
]  # fmt: skip

#: The beginning of a file's hash in its name: ``resnet18-bfd8deac.pth``.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
#: The bar of progress, which libraries take from here; None where tqdm is not installed.
tqdm: Any = importlib.import_module("tqdm").tqdm if importlib.util.find_spec("tqdm") else None


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> tt.hub.load("pytorch/vision", "resnet18")
        Traceback (most recent call last):
            ...
        NotImplementedError: hub: tinytorch downloads nothing; ...
    """
    raise NotImplementedError(
        "hub: tinytorch downloads nothing; fetch the file yourself and read it with load()"
    )


download_url_to_file = load = load_state_dict_from_url = help = list = _refuse
_chosen: str | None = None


def _get_torch_home() -> str:
    """The folder of PyTorch's downloads: ``$TORCH_HOME``, or ``torch`` in the user's cache."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder where programs keep what they downloaded; it need not exist.

    Example:
        >>> tt.hub.set_dir("downloads")
        >>> tt.hub.get_dir()
        'downloads'
    """
    return os.path.join(_get_torch_home(), "hub") if _chosen is None else _chosen


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose the folder that ``get_dir`` names.

    Args:
        d: The folder.

    Example:
        >>> tt.hub.set_dir("downloads")
    """
    global _chosen
    _chosen = os.path.expanduser(d)
