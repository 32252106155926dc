"""``torch.xpu`` for programs that ask for Intel's GPUs: there are none."""

from .compat.tables.devices import TABLES, fill

fill(globals(), TABLES["xpu"])
