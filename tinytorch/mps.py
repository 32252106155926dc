"""``torch.mps`` for programs that ask for Apple's GPUs: there are none."""

from .compat.tables.devices import TABLES, fill

fill(globals(), TABLES["mps"])
