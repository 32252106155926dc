"""What ``autocast`` does to which operation, on which type of device: PyTorch's lists.

The names are ATen's, as ``aten_name`` makes them of ours.

Reference: ``aten/src/ATen/autocast_mode.h`` and ``.cpp``: the kernels registered for the dispatch
keys ``AutocastCPU`` and ``AutocastCUDA``.
"""

from __future__ import annotations

from .spec import Op

#: What happens to floating arguments: cast to the lower dtype, to float32, to the widest of theirs;
#: ``SUMS``: nothing, but the result is float32 if no dtype is asked for.
#: ``KEPT``: nothing, nor to the operations that it is made of here; ``ENDS_LOW``: cast to float32,
#: and the result to the lower dtype, since the last of what it is made of there is a product.
LOWER, WIDE, WIDEST, SUMS, KEPT = "lower", "float32", "widest", "sums", "kept"
ENDS_LOW = "ends low"

_LOSSES = (
    "mse_loss cosine_embedding_loss nll_loss hinge_embedding_loss poisson_nll_loss smooth_l1_loss "
    "l1_loss huber_loss margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss "
    "kl_div multilabel_margin_loss binary_cross_entropy_with_logits cross_entropy"
)
_PRODUCTS = (
    "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d prelu addmm "
    "addbmm baddbmm bmm mm matmul linear linalg_vecdot scaled_dot_product_attention"
)
_NAMES: dict[str, dict[str, str]] = {
    "cpu": {
        # tensordot, inner and einsum are made of products there.
        LOWER: f"{_PRODUCTS} _addmm_activation tensordot inner einsum",
        WIDE: f"""{_LOSSES} avg_pool3d binary_cross_entropy grid_sampler grid_sample polar prod
            quantile nanquantile stft cdist grid_sampler_2d grid_sampler_3d trace view_as_complex
            cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse
            max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d adaptive_max_pool3d
            reflection_pad replication_pad ctc_loss fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn
            fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft
            fft_ihfft linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky linalg_svdvals
            linalg_eigvals linalg_eigvalsh linalg_inv linalg_householder_product linalg_tensorinv
            linalg_tensorsolve geqrf qr svd triangular_solve fractional_max_pool2d
            fractional_max_pool3d linalg_qr linalg_cholesky_ex linalg_svd linalg_eig linalg_eigh
            linalg_lstsq linalg_inv_ex max_unpool1d linear_cross_entropy""",
        WIDEST: "cat stack index_copy",
        KEPT: "bilinear",
        ENDS_LOW: "linalg_pinv",
    },
    "cuda": {
        LOWER: f"""{_PRODUCTS} addmv addr mv einsum chain_matmul linalg_multi_dot lstm_cell
            gru_cell rnn_tanh_cell rnn_relu_cell""",
        WIDE: f"""{_LOSSES} acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt
            sinh tan pow softplus layer_norm native_layer_norm rms_norm group_norm frobenius_norm
            nuclear_norm norm cosine_similarity dist pdist cdist renorm logsumexp interpolate
            linalg_matrix_norm linalg_vector_norm""",
        SUMS: "prod softmax log_softmax cumprod cumsum sum",
        WIDEST: """addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler grid_sample index_put
            tensordot scatter_add""",
    },
}
POLICIES: dict[str, dict[str, str]] = {
    device: {name: policy for policy, names in lists.items() for name in names.split()}
    for device, lists in _NAMES.items()
}
_ALIASES = {
    "arccos": "acos", "arcsin": "asin", "linalg_cross": "cross", "linalg_matmul": "matmul",
    "special_expm1": "expm1", "special_log1p": "log1p",
    "special_softmax": "softmax", "special_log_softmax": "log_softmax",
    "special_logsumexp": "logsumexp",
}  # fmt: skip


def aten_name(op: Op) -> str:
    """ATen's name of an operation: ``linalg_inv`` for ``linalg.inv``."""
    space, _, name = op.qualname.rpartition(".")
    named = name if space in ("", "nn.functional", "Tensor") else f"{space}_{name}"
    return _ALIASES.get(named, named)
