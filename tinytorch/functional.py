"""The operations that PyTorch keeps in ``torch.functional``, and ``nn.functional`` as ``F``.

Example:
    >>> import tinytorch as tt
    >>> from tinytorch.functional import norm
    >>> norm is tt.norm
    True
"""

from .compat.tables.others import TABLES, fill

fill(globals(), TABLES["functional"])
