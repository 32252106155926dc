"""``torch.distributed.elastic.multiprocessing``: what started programs use of it."""

from __future__ import annotations

from ....compat.tables.distributed import TABLES
from ....compat.tables.distributed import fill

fill(globals(), TABLES["distributed.elastic.multiprocessing"])
