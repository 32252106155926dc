"""``torch.hub`` without downloads: the download folder's name, and functions that raise."""

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

#: Matches the beginning of a file's hash in its name: ``resnet18-bfd8deac.pth``.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
#: tqdm's progress bar, which other libraries import from here; None if tqdm is not installed.
tqdm: Any = importlib.import_module("tqdm").tqdm if importlib.util.find_spec("tqdm") else None


def _raise_unsupported(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise ``NotImplementedError``: tinytorch downloads nothing.

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


download_url_to_file = _raise_unsupported
load = _raise_unsupported
load_state_dict_from_url = _raise_unsupported
help = _raise_unsupported
list = _raise_unsupported
#: The folder that ``set_dir`` set.
_dir: str | None = None


def _get_torch_home() -> str:
    """Folder of PyTorch's downloads: ``$TORCH_HOME``, or ``torch`` in the user's cache."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """Folder for downloaded files; it may not exist yet.

    Example:
        >>> tt.hub.set_dir("downloads")
        >>> tt.hub.get_dir()
        'downloads'
    """
    return os.path.join(_get_torch_home(), "hub") if _dir is None else _dir


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder that ``get_dir`` returns.

    Args:
        d: The folder.

    Example:
        >>> tt.hub.set_dir("downloads")
    """
    global _dir
    _dir = os.path.expanduser(d)
