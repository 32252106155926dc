"""``torch.hub`` for programs that name it: nothing is downloaded here."""

from __future__ import annotations

import re
from typing import Any, NoReturn

__all__ = [
    "HASH_REGEX", "download_url_to_file", "get_dir", "load", "load_state_dict_from_url", "set_dir",
]  # fmt: skip

#: The beginning of a file's hash in its name: ``resnet18-bfd8deac.pth``.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "hub: tinytorch downloads nothing; fetch the file yourself and read it with load()"
    )


download_url_to_file = get_dir = load = load_state_dict_from_url = set_dir = _refuse
