"""``torch.cpu``: the one device that is always there."""

from ..compat.tables.devices import TABLES, fill

fill(globals(), TABLES["cpu"])
