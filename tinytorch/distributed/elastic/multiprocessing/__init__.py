"""``torch.distributed.elastic.multiprocessing``: names for programs that a launcher started."""

from __future__ import annotations

from ....compat.tables.distributed import TABLES
from ....compat.tables.distributed import fill

fill(globals(), TABLES["distributed.elastic.multiprocessing"])
