"""The older name of ``torch.distributed.tensor``."""

from __future__ import annotations

from ..compat.module_aliases import publish
from .tensor import *  # noqa: F403
from .tensor import __all__ as __all__
from .tensor import implicit_replication as implicit_replication

publish(__name__, "api experimental placement_types")
