"""Algorithms of data parallelism: ``Join``, for uneven inputs, and communication hooks."""

from __future__ import annotations

from .join import Join as Join
from .join import Joinable as Joinable
from .join import JoinHook as JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
