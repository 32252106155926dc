"""Examples as in ``array_examples``: linear algebra, transforms, layers and losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.array_examples import PART, SHARE, Example, P, V, W, X, Y, Z
from tests.oracles import numbers

SQUARE = numbers(3, 3, seed=4) / 3 + 2 * np.eye(3)
BATCH = numbers(2, 3, 2, seed=3)
OTHER = numbers(3, 2, seed=5)
SIGNAL, IMAGE, VOLUME = numbers(1, 2, 5) / 4, numbers(1, 2, 4, 4) / 8, numbers(1, 1, 2, 3, 3) / 8
CLASSES = np.array([2, 0])


def hermitian(lib: Any, a: Any) -> Any:
    """Eigenvalues and absolute values of eigenvectors, whose phases are arbitrary."""
    values, vectors = lib.linalg.eigh(a + a.mH)
    return values, (vectors * vectors.conj()).real


def general(lib: Any, a: Any) -> Any:
    """The same of a matrix without symmetry."""
    values, vectors = lib.linalg.eig(a)
    return values, (vectors * vectors.conj()).real


def sparse_products(lib: Any, values: Any, dense: Any) -> Any:
    """Products of a sparse matrix, and its elements in a dense one."""
    s = lib.sparse_coo_tensor(lib.tensor([[0, 1, 1], [2, 0, 2]]), values, (2, 3)).coalesce()
    return lib.sparse.mm(s, dense), s.to_dense()


def singular(lib: Any, a: Any) -> Any:
    u, s, vh = lib.linalg.svd(a, full_matrices=False)
    return (u * u.conj()).real, s, u @ vh


def bag(lib: Any, weight: Any) -> Any:
    f = lib.nn.functional.embedding_bag
    index, starts = lib.tensor([2, 0, 2, 1]), lib.tensor([0, 3])
    return f(index, weight, starts, mode="sum"), f(index, weight, starts, mode="mean")


def gru_cell(lib: Any, x: Any, h: Any, w: Any, v: Any) -> Any:
    return lib.gru_cell(x, h, w, v)


def lstm(lib: Any, x: Any, h: Any, c: Any, w: Any, v: Any, b: Any) -> Any:
    sizes = True, 1, 0.0, False, False, False
    return lib.lstm(x, (h, c), [w, v, b, b + 1], *sizes)


def gru(lib: Any, x: Any, h: Any, w: Any, v: Any, b: Any) -> Any:
    sizes = True, 1, 0.0, False, False, False
    return lib.gru(x, h, [w, v, b, b + 1], *sizes)


def lstm_cell(lib: Any, x: Any, h: Any, c: Any, w: Any, v: Any) -> Any:
    return lib.lstm_cell(x, (h, c), w, v)


def random_layer(lib: Any, name: str, x: Any) -> Any:
    """Call a random function of ``nn.functional`` with the same seed every time."""
    lib.manual_seed(0)
    options = {} if name == "gumbel_softmax" else {"training": True}
    return getattr(lib.nn.functional, name)(x, **options)


def transducer(lib: Any, x: Any) -> Any:
    """CTC of two labels in four steps."""
    logs = lib.log_softmax(x, 2)
    return lib.nn.functional.ctc_loss(
        logs, lib.tensor([[1, 2]]), lib.tensor([4]), lib.tensor([2]), reduction="sum"
    )


def pooled_regions(lib: Any, x: Any, name: str, *sampling: Any) -> Any:
    """Pool two regions of an image into bins; the second reaches beyond the image."""
    rois = lib.tensor([[0, 0.2, 0.3, 3.1, 2.8], [0, 1.5, 2.2, 4.5, 4.4]], dtype=x.dtype)
    found = getattr(lib.ops.torchvision, name)(x, rois, 1.0, 2, 2, *sampling)
    return found if name == "roi_align" else found[0]


LINEAR_ALGEBRA: dict[str, Example] = {
    "sparse_coo_tensor": (sparse_products, V, OTHER),
    "Tensor.sparse_mask": (lambda lib, x: x.sparse_mask(lib.eye(2, 3).to_sparse()).to_dense(), X),
    **dict.fromkeys(
        "linalg.det linalg.slogdet linalg.inv linalg.matrix_exp linalg.pinv "
        "linalg.cond logdet inverse pinverse slogdet linalg.diagonal".split(),
        (SQUARE,),
    ),
    "linalg.tensorinv": (lambda lib, a: lib.linalg.tensorinv(a, 1), SQUARE),
    "matmul": (BATCH, X),
    "matmul vectors": (lambda lib, x, v, w: (x @ v, w[:2] @ x), X, V, W),
    "mm": (X, OTHER),
    "bmm": (BATCH, BATCH.swapaxes(1, 2)),
    "mv": (X, V),
    "dot": (V, W),
    "vdot": (V, W),
    "inner": (X, Y),
    "outer": (V, W),
    "kron": (V, W),
    "linalg.vecdot": (X, Y),
    "linalg.cross": (X, Y),
    "linalg.multi_dot": (lambda lib, x, y, z: lib.linalg.multi_dot([x, y, z]), X, OTHER, Y),
    "linalg.matrix_power": (lambda lib, a: (lib.linalg.matrix_power(a, 3),
                                            lib.linalg.matrix_power(a, -1),
                                            lib.linalg.matrix_power(a, 0)), SQUARE),
    "linalg.vander": (V,),
    "vander": (V,),
    "cross": (lambda lib, x, y: lib.cross(x, y, dim=1), X, Y),
    "chain_matmul": (X, OTHER, Y),
    "einsum": (lambda lib, x, y: (lib.einsum("ij,kj->ik", x, y), lib.einsum("ij,ij->j", x, y)),
               X, Y),
    "einsum diagonal": (lambda lib, a: lib.einsum("ii->i", a), SQUARE),
    "tensordot": (lambda lib, x, y: lib.tensordot(x, y, 1), X, OTHER),
    "addmm": (lambda lib, x, y, z: lib.addmm(x, y, z, beta=2, alpha=3), OTHER[:2], X, OTHER),
    "addmv": (lambda lib, x, y, z: lib.addmv(x, y, z, beta=2, alpha=3), V[:2], X, V),
    "addr": (lambda lib, x, y, z: lib.addr(x, y, z, beta=2, alpha=3), X, V[:2], W),
    "addbmm": (lambda lib, x, y: lib.addbmm(x[0], x, y, alpha=2), BATCH[:, :2], BATCH[:, :2]),
    "baddbmm": (lambda lib, x, y: lib.baddbmm(x[:, :1], x, y, alpha=2), BATCH[:, :2], BATCH[:, :2]),
    "cdist": (X, Y),
    "cdist powers": (lambda lib, x, y: (lib.cdist(x, y, 1.0), lib.cdist(x, y, 3.0)), X, Y),
    "nn.functional.pdist": (OTHER,),
    "nn.functional.cosine_similarity": (X, Y),
    "nn.functional.pairwise_distance": (X, Y),
    "linalg.solve": (SQUARE, OTHER),
    "linalg.solve right": (lambda lib, a, b: lib.linalg.solve(a, b, left=False), SQUARE, X),
    "linalg.solve_ex": (lambda lib, a, b: lib.linalg.solve_ex(a, b).result, SQUARE, OTHER),
    "linalg.tensorsolve": (SQUARE, V),
    "linalg.inv_ex": (lambda lib, a: lib.linalg.inv_ex(a).inverse, SQUARE),
    "linalg.lstsq": (lambda lib, a, b: lib.linalg.lstsq(a, b).solution, OTHER, numbers(3, 1)),
    "linalg.eigh": (hermitian, SQUARE),
    "linalg.eigvalsh": (lambda lib, a: lib.linalg.eigvalsh(a + a.mH), SQUARE),
    "linalg.eig": (general, SQUARE + np.diag((1, 4, 9))),
    "linalg.eigvals": (lambda lib, a: lib.linalg.eigvals(a).abs().sort().values,
                       SQUARE + np.diag((1, 4, 9))),
    "svd": (lambda lib, a: lib.svd(a).S, OTHER),
    "linalg.norm": (lambda lib, a: (lib.linalg.norm(a, "nuc"), lib.linalg.norm(a, 1)), X),
    "linalg.svd": (singular, OTHER),
    "linalg.svdvals": (OTHER,),
    "linalg.matrix_norm": (lambda lib, a: (lib.linalg.matrix_norm(a, "nuc"),
                                           lib.linalg.matrix_norm(a, 2)), X),
    "linalg.qr": (lambda lib, a: tuple(lib.linalg.qr(a)), OTHER),
    "linalg.householder_product": (lambda lib, a, t: lib.linalg.householder_product(a, t),
                                   OTHER, V[:2] / 2),
    "qr": (lambda lib, a: tuple(lib.qr(a)), OTHER),
    "orgqr": (OTHER, V[:2] / 2),
    "ormqr": (lambda lib, a, t, x: lib.ormqr(a, t, x), OTHER, V[:2] / 2, numbers(3, 1)),
    "triangular_solve": (lambda lib, b, a: lib.triangular_solve(b, a).solution, OTHER, SQUARE),
    "linalg.solve_triangular": (lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=True),
                                SQUARE, OTHER),
    "linalg.solve_triangular unit": (
        lambda lib, a, b: lib.linalg.solve_triangular(
            a, b, upper=False, left=False, unitriangular=True), SQUARE, X),
    "linalg.cholesky": (lambda lib, a: lib.linalg.cholesky(a @ a.mH), SQUARE),
    "linalg.cholesky upper": (lambda lib, a: lib.linalg.cholesky(a @ a.mH, upper=True), SQUARE),
    "linalg.cholesky_ex": (lambda lib, a: lib.linalg.cholesky_ex(a @ a.mH).L, SQUARE),
    "cholesky_solve": (lambda lib, b, a: lib.cholesky_solve(b, lib.linalg.cholesky(a @ a.mH)),
                       OTHER, SQUARE),
    "cholesky_inverse": (lambda lib, a: lib.cholesky_inverse(lib.linalg.cholesky(a @ a.mH)),
                         SQUARE),
    "linalg.lu": (lambda lib, a: lib.linalg.lu(a)[1:], SQUARE),
    "linalg.lu_factor": (lambda lib, a: lib.linalg.lu_factor(a)[0], SQUARE),
    "linalg.lu_factor_ex": (lambda lib, a: lib.linalg.lu_factor_ex(a)[0], SQUARE),
    "lu_solve": (lambda lib, a, b: lib.lu_solve(b, *lib.linalg.lu_factor(a)), SQUARE, OTHER),
    "lu_unpack": (lambda lib, a: lib.lu_unpack(*lib.linalg.lu_factor(a))[1:], SQUARE),
    "linalg.lu_solve": (lambda lib, a, b: lib.linalg.lu_solve(*lib.linalg.lu_factor(a), b),
                        SQUARE, OTHER),
}  # fmt: skip

TRANSFORMS: dict[str, Example] = {
    **{f"fft.{name}": (lambda lib, x, name=name: getattr(lib.fft, name)(x, norm="ortho"), X)
       for name in "fft ifft rfft ihfft fft2 ifft2 rfft2 ihfft2 fftn ifftn rfftn ihfftn hfft irfft "
                   "hfft2 irfft2 hfftn irfftn".split()},
    "fft.fft sizes": (lambda lib, x: (lib.fft.fft(x, 2), lib.fft.rfft(x, 5), lib.fft.irfft(x, 5)),
                      X),
    "fft.fftshift": (X,),
    "fft.ifftshift": (X,),
    "stft": (lambda lib, x: lib.stft(x, 4, 2, return_complex=True,
                                     window=lib.ones(4, dtype=lib.float64)), numbers(6)),
    "istft": (lambda lib, x: lib.istft(lib.stft(x, 4, 2, return_complex=True,
                                                window=lib.ones(4, dtype=lib.float64)), 4, 2,
                                       window=lib.ones(4, dtype=lib.float64)), numbers(6)),
}  # fmt: skip

LAYERS: dict[str, Example] = {
    f"nn.functional.{name}": example
    for name, example in {
        "linear": (X, Y, V[:2]),
        "bilinear": (X, Y, numbers(2, 3, 3) / 9, V[:2]),
        "conv1d": (lambda lib, x, w, b: lib.nn.functional.conv1d(
            x, w, b, stride=2, padding=1), SIGNAL, numbers(2, 2, 2), V[:2]),
        "conv2d": (lambda lib, x, w: lib.nn.functional.conv2d(
            x, w, padding=1, dilation=2, groups=2), IMAGE, numbers(2, 1, 2, 2)),
        "conv3d": (lambda lib, x, w: lib.nn.functional.conv3d(x, w),
                   VOLUME, numbers(1, 1, 2, 2, 2)),
        "conv_transpose1d": (lambda lib, x, w, b: lib.nn.functional.conv_transpose1d(
            x, w, b, stride=2, padding=1, output_padding=1), SIGNAL, numbers(2, 2, 2), V[:2]),
        "conv_transpose2d": (lambda lib, x, w: lib.nn.functional.conv_transpose2d(
            x, w, groups=2), IMAGE[..., :2, :2], numbers(2, 1, 2, 2)),
        "conv_transpose3d": (lambda lib, x, w: lib.nn.functional.conv_transpose3d(x, w),
                             VOLUME[..., :2, :2], numbers(1, 1, 1, 2, 2)),
        "conv_tbc": (lambda lib, x, w, b: lib.conv_tbc(x, w, b, 1),
                     numbers(3, 1, 2), numbers(2, 2, 2), V[:2]),
        **{name: (lambda lib, x, name=name: getattr(lib.nn.functional, name)(x, 2), VOLUME)
           for name in ("adaptive_avg_pool3d", "adaptive_max_pool3d")},
        "lp_pool3d": (lambda lib, x: lib.nn.functional.lp_pool3d(x, 2.0, 2), np.exp(VOLUME)),
        "max_unpool1d": (lambda lib, x: lib.nn.functional.max_unpool1d(
            *lib.nn.functional.max_pool1d(x, 2, return_indices=True), 2), SIGNAL),
        "max_unpool3d": (lambda lib, x: lib.nn.functional.max_unpool3d(
            *lib.nn.functional.max_pool3d(x, (1, 3, 3), return_indices=True), (1, 3, 3)), VOLUME),
        **{name: (lambda lib, x, name=name: getattr(lib.nn.functional, name)(x, size=(3, 5)), IMAGE)
           for name in ("upsample", "upsample_nearest", "upsample_bilinear")},
        "unfold": (lambda lib, x: lib.nn.functional.unfold(x, 2, padding=1, stride=2), IMAGE),
        "fold": (lambda lib, x: lib.nn.functional.fold(x, (2, 3), 2), numbers(1, 4, 2)),
        "max_pool1d": (lambda lib, x: lib.nn.functional.max_pool1d(x, 2), SIGNAL),
        "max_pool2d": (lambda lib, x: lib.nn.functional.max_pool2d(x, 2, 1, ceil_mode=True), IMAGE),
        "max_pool2d indices": (lambda lib, x: lib.nn.functional.max_pool2d(
            x, 2, return_indices=True)[0], IMAGE),
        "max_pool3d": (lambda lib, x: lib.nn.functional.max_pool3d(x, 2, 1), VOLUME),
        "avg_pool1d": (lambda lib, x: lib.nn.functional.avg_pool1d(x, 2, padding=1), SIGNAL),
        "avg_pool2d": (lambda lib, x: lib.nn.functional.avg_pool2d(x, 2, 1), IMAGE),
        "avg_pool3d": (lambda lib, x: lib.nn.functional.avg_pool3d(x, 2, 1), VOLUME),
        "lp_pool1d": (lambda lib, x: lib.nn.functional.lp_pool1d(x, 2.0, 2), np.exp(SIGNAL)),
        "lp_pool2d": (lambda lib, x: lib.nn.functional.lp_pool2d(x, 3.0, 2), np.exp(IMAGE)),
        "adaptive_avg_pool1d": (lambda lib, x: lib.nn.functional.adaptive_avg_pool1d(x, 3), SIGNAL),
        "adaptive_avg_pool2d": (lambda lib, x: lib.nn.functional.adaptive_avg_pool2d(
            x, (2, 3)), IMAGE),
        "adaptive_max_pool1d": (lambda lib, x: lib.nn.functional.adaptive_max_pool1d(x, 3), SIGNAL),
        "adaptive_max_pool2d indices": (lambda lib, x: lib.nn.functional.adaptive_max_pool2d(
            x, (2, 3), return_indices=True)[0], IMAGE),
        "adaptive_max_pool2d": (lambda lib, x: lib.nn.functional.adaptive_max_pool2d(
            x, (2, 3)), IMAGE),
        "max_unpool2d": (lambda lib, x: lib.nn.functional.max_unpool2d(
            *lib.nn.functional.max_pool2d(x, 2, return_indices=True), 2), IMAGE),
        "fractional_max_pool2d": (lambda lib, x: lib.nn.functional.fractional_max_pool2d(
            x, 2, 3, _random_samples=lib.tensor([[[0.3, 0.6]] * 2], dtype=x.dtype)), IMAGE),
        "pad constant": (lambda lib, x: lib.nn.functional.pad(x, (1, -1, 0, 2), value=2.0), IMAGE),
        **{f"pad {mode}": (lambda lib, x, mode=mode: lib.nn.functional.pad(x, (1, 2), mode), SIGNAL)
           for mode in ("reflect", "replicate", "circular")},
        **{f"interpolate {mode}": (lambda lib, x, mode=mode: lib.nn.functional.interpolate(
            x, size=(3, 5), mode=mode), IMAGE)
           for mode in ("nearest", "bilinear", "bicubic", "area")},
        **{f"grid_sample {edge}": (lambda lib, x, grid, edge=edge: lib.nn.functional.grid_sample(
            x, grid, padding_mode=edge, align_corners=False), IMAGE, numbers(1, 1, 3, 2) / 1.7)
           for edge in ("zeros", "border", "reflection")},
        "affine_grid": (lambda lib, x: lib.nn.functional.affine_grid(
            x, (1, 1, 2, 2), align_corners=False), X[None]),
        "layer_norm": (lambda lib, x, w, b: lib.nn.functional.layer_norm(x, (3,), w, b), X, V, W),
        "rms_norm": (lambda lib, x, w: lib.nn.functional.rms_norm(x, (3,), w), X, V),
        "group_norm": (lambda lib, x, w, b: lib.nn.functional.group_norm(x, 2, w, b),
                       numbers(2, 4, 2), numbers(4), numbers(4, seed=1)),
        "batch_norm": (lambda lib, x, w, b: lib.nn.functional.batch_norm(
            x, None, None, w, b, training=True), numbers(3, 2, 2), V[:2], W[:2]),
        "batch_norm evaluated": (lambda lib, x, w, b: lib.nn.functional.batch_norm(
            x, lib.tensor([0.2, -0.1], dtype=x.dtype), lib.tensor([0.5, 2.0], dtype=x.dtype), w, b),
            numbers(3, 2, 2), V[:2], W[:2]),
        "instance_norm": (lambda lib, x: lib.nn.functional.instance_norm(x), SIGNAL),
        "local_response_norm": (lambda lib, x: lib.nn.functional.local_response_norm(x, 2), SIGNAL),
        "normalize": (X,),
        "scaled_dot_product_attention": (X, Y, Z),
        "scaled_dot_product_attention masked": (
            lambda lib, q, k, v, m: lib.nn.functional.scaled_dot_product_attention(q, k, v, m),
            X, Y, Z, V[:2]),
        "scaled_dot_product_attention causal": (
            lambda lib, q, k, v: lib.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=True), X, Y, Z),
        "scaled_dot_product_attention heads": (
            lambda lib, q, k, v: lib.nn.functional.scaled_dot_product_attention(
                *(t.unflatten(-1, (2, 2)).transpose(1, 2) for t in (q, k, v))),
            numbers(1, 3, 4), numbers(1, 3, 4, seed=1), numbers(1, 3, 4, seed=2)),
        "embedding_bag": (bag, X.T),
        "embedding_bag max": (lambda lib, w: lib.nn.functional.embedding_bag(
            lib.tensor([2, 0, 2, 1]), w, lib.tensor([0, 3]), mode="max"), X.T),
        **{name: (lambda lib, x, name=name: random_layer(lib, name, x), IMAGE[..., :2])
           for name in "dropout dropout2d alpha_dropout feature_alpha_dropout rrelu "
                       "gumbel_softmax".split()},
        "dropout1d": (lambda lib, x: random_layer(lib, "dropout1d", x), SIGNAL),
        "dropout3d": (lambda lib, x: random_layer(lib, "dropout3d", x), VOLUME[..., :2]),
    }.items()
}  # fmt: skip

REGIONS: dict[str, Example] = {
    "ops.torchvision.roi_align": (lambda lib, x: pooled_regions(lib, x, "roi_align", 2, True),
                                  IMAGE),
    "ops.torchvision.ps_roi_align": (lambda lib, x: pooled_regions(lib, x, "ps_roi_align", 2),
                                     numbers(1, 4, 4, 4) / 8),
    "ops.torchvision.ps_roi_pool": (lambda lib, x: pooled_regions(lib, x, "ps_roi_pool"),
                                    numbers(1, 4, 4, 4) / 8),
    "ops.torchvision.roi_pool": (lambda lib, x: pooled_regions(lib, x, "roi_pool"), IMAGE),
}  # fmt: skip

LOSSES: dict[str, Example] = {
    **{f"nn.functional.{name}": (X, Y)
       for name in "mse_loss l1_loss smooth_l1_loss huber_loss".split()},
    **{f"nn.functional.{name} each": (
        lambda lib, x, y, name=name: getattr(lib.nn.functional, name)(x, y, reduction="none"), X, Y)
       for name in "mse_loss l1_loss smooth_l1_loss huber_loss".split()},
    "nn.functional.mse_loss sum": (
        lambda lib, x, y: lib.nn.functional.mse_loss(x, y, reduction="sum"), X, Y),
    "nn.functional.binary_cross_entropy": (SHARE, PART),
    "nn.functional.binary_cross_entropy_with_logits": (X, PART),
    "nn.functional.kl_div": (lambda lib, x, y: lib.nn.functional.kl_div(
        x, y, reduction="sum"), X, PART),
    "nn.functional.poisson_nll_loss": (X, P),
    "nn.functional.gaussian_nll_loss": (X, Y, P),
    "nn.functional.cross_entropy": (lambda lib, x, t: lib.nn.functional.cross_entropy(x, t),
                                    X, CLASSES),
    "nn.functional.cross_entropy each": (
        lambda lib, x, t: lib.nn.functional.cross_entropy(x, t, reduction="none"), X, CLASSES),
    "nn.functional.cross_entropy smooth": (
        lambda lib, x, t: lib.nn.functional.cross_entropy(
            x, t, reduction="none", label_smoothing=0.1), X, CLASSES),
    "nn.functional.cross_entropy shares": (
        lambda lib, x, t: lib.nn.functional.cross_entropy(x, t), X, SHARE),
    "nn.functional.nll_loss": (lambda lib, x, t: (
        lib.nn.functional.nll_loss(x, t), lib.nn.functional.nll_loss(x, t, reduction="none")),
        X, CLASSES),
    "nn.functional.soft_margin_loss": (lambda lib, x: lib.nn.functional.soft_margin_loss(
        x, lib.ones_like(x)), X),
    "nn.functional.multi_margin_loss": (lambda lib, x, t: lib.nn.functional.multi_margin_loss(
        x, t), X, CLASSES),
    "nn.functional.multi_margin_loss squared": (
        lambda lib, x, t: lib.nn.functional.multi_margin_loss(x, t, p=2), X, CLASSES),
    "nn.functional.margin_ranking_loss": (lambda lib, x, y: lib.nn.functional.margin_ranking_loss(
        x, y, lib.ones(2, 3), margin=0.1), X, Y),
    "nn.functional.triplet_margin_loss": (X, Y, Z),
    "nn.functional.triplet_margin_with_distance_loss": (X, Y, Z),
    "nn.functional.hinge_embedding_loss": (
        lambda lib, x, y: lib.nn.functional.hinge_embedding_loss(x, y.sign().detach()), X, Y),
    "nn.functional.cosine_embedding_loss": (
        lambda lib, x, y: lib.nn.functional.cosine_embedding_loss(
            x, y, lib.tensor([1, -1]), margin=-1.0), X, Y),
    "nn.functional.multilabel_soft_margin_loss": (
        lambda lib, x: lib.nn.functional.multilabel_soft_margin_loss(x, lib.ones(2, 3)), X),
    "nn.functional.multilabel_margin_loss": (
        lambda lib, x: lib.nn.functional.multilabel_margin_loss(
            x, lib.tensor([[1, -1, 0], [0, 2, -1]])), X),
    "nn.functional.linear_cross_entropy": (
        lambda lib, x, w, t: lib.nn.functional.linear_cross_entropy(x, w, t), X, numbers(3, 3),
        CLASSES),
    "nn.functional.ctc_loss": (transducer, numbers(4, 1, 3) / 3),
    "gru_cell": (gru_cell, X, Y[:, :1], numbers(3, 3), numbers(3, 1)),
    "gru": (gru, numbers(3, 2, 2), numbers(1, 2, 2), numbers(6, 2), numbers(6, 2), numbers(6)),
    "lstm": (lstm, numbers(3, 2, 2), numbers(1, 2, 2), numbers(1, 2, 2), numbers(8, 2),
             numbers(8, 2), numbers(8)),
    "lstm_cell": (lstm_cell, X, Y[:, :1], Z[:, :1], numbers(4, 3), numbers(4, 1)),
    "rnn_relu_cell": (X, Y[:, :1], numbers(1, 3), numbers(1, 1)),
    "rnn_tanh_cell": (X, Y[:, :1], numbers(1, 3), numbers(1, 1)),
}  # fmt: skip
