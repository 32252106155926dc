"""The operations that PyTorch keeps in ``torch.functional``, and ``nn.functional`` as ``F``.

Example:
    >>> from tinytorch.functional import norm
    >>> norm is tt.norm
    True
"""

from .compat.tables.unsupported import TABLES
from .compat.tables.unsupported import fill

fill(globals(), TABLES["functional"])
