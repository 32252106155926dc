"""``torch.distributed.checkpoint``: saving and loading state dicts of several ranks."""

from __future__ import annotations

from ...compat.tables.distributed import TABLES
from ...compat.tables.distributed import fill
from .saving import CheckpointException as CheckpointException
from .saving import FileSystemReader as FileSystemReader
from .saving import FileSystemWriter as FileSystemWriter
from .saving import load as load
from .saving import save as save

__all__ = ["CheckpointException", "FileSystemReader", "FileSystemWriter", "load", "save"]

fill(globals(), TABLES["distributed.checkpoint"])
