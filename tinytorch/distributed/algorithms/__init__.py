"""Algorithms of several processes: ``Join``, for inputs of unequal number, and hooks."""

from __future__ import annotations

from .join import Join as Join
from .join import Joinable as Joinable
from .join import JoinHook as JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
