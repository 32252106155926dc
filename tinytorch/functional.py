"""The operations that PyTorch keeps in ``torch.functional``, and ``nn.functional`` as ``F``.

Example:
    >>> import tinytorch as tt
    >>> from tinytorch.functional import norm
    >>> norm is tt.norm
    True
"""

from __future__ import annotations

from .nn import functional as F
from .ops.fft.stft import istft as istft
from .ops.fft.stft import stft as stft
from .ops.linalg.distance_matrix import cdist as cdist
from .ops.linalg.einsum import einsum as einsum
from .ops.linalg.einsum import tensordot as tensordot
from .ops.linalg.matrix_factors import lu as lu
from .ops.linalg.matrix_factors import pca_lowrank as pca_lowrank
from .ops.linalg.matrix_factors import svd_lowrank as svd_lowrank
from .ops.linalg.products import chain_matmul as chain_matmul
from .ops.reduce.norms import norm as norm
from .ops.shape.broadcasting import broadcast_shapes as broadcast_shapes
from .ops.shape.broadcasting import broadcast_tensors as broadcast_tensors
from .ops.shape.combining import block_diag as block_diag
from .ops.shape.combining import cartesian_prod as cartesian_prod
from .ops.shape.combining import meshgrid as meshgrid
from .ops.shape.combining import unravel_index as unravel_index
from .ops.shape.joining import atleast_1d as atleast_1d
from .ops.shape.joining import atleast_2d as atleast_2d
from .ops.shape.joining import atleast_3d as atleast_3d
from .ops.shape.splitting import split as split
from .ops.sort.unique import unique as unique
from .ops.sort.unique import unique_consecutive as unique_consecutive

__all__ = [
    "F", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu",
    "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "unique",
    "unique_consecutive", "unravel_index",
]  # fmt: skip
