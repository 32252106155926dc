"""First and second derivatives of every operation that has them, of real and complex numbers."""

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.numpy import names
from tests.ops import array_examples, layer_examples
from tests.oracles import compare, flatten, has_second_derivatives
from tinytorch.autograd import grad, gradcheck
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS
from tinytorch.graph.nodes import node_of
from tinytorch.graph.views import edge_of

#: What PyTorch has to say of what it would rather not have.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{text}")
    for text in (".*deprecated", "Casting complex values", "index_reduce.. is in beta")
]
#: A key is an operation's name, and may go on after a space.
EXAMPLES: dict[str, Any] = {
    **array_examples.ELEMENTWISE, **array_examples.SHAPES, **array_examples.INDEXING,
    **array_examples.REDUCTIONS, **layer_examples.LINEAR_ALGEBRA, **layer_examples.TRANSFORMS,
    **layer_examples.LAYERS, **layer_examples.REGIONS, **layer_examples.LOSSES,
}  # fmt: skip
#: Examples whose gradient is not the derivative, and why.
NOT_THE_DERIVATIVE = {
    "as_strided_scatter": "PyTorch 2.13 keeps the wrong part of it, as the documentation says",
    "nn.functional.embedding padded": "the row of padding gets none",
    "nn.functional.embedding scaled": "it is divided by how often a row is used",
}
#: Examples that have no derivative of a derivative, in PyTorch neither.
FIRST_ONLY = ("nn.functional.ctc_loss",)
#: Examples whose second derivative PyTorch does not have.
FIRST_IN_TORCH = dict.fromkeys(
    [f"nn.functional.{name}" for name in ("pdist", "multi_margin_loss",
                                          "multi_margin_loss squared", "multilabel_margin_loss",
                                          "ctc_loss", "scaled_dot_product_attention heads")]
    + ["cdist", "cdist powers"], 1
)  # fmt: skip
#: Examples where PyTorch is no oracle, and why.
NOT_TORCHS = {
    "nn.functional.hardsigmoid": "its sixth is a float32 there",
    "scatter": "the gradient of a source larger than the index is refused there",
    "sparse_coo_tensor": "second derivatives of its elements are zeros there",
    "vander": "its backward fails there: it has written over what it needs",
    **dict.fromkeys(layer_examples.REGIONS, "they are torchvision's"),
}
#: What takes real numbers alone, with ``F`` for ``nn.functional``.
REAL_ONLY = (
    "amax, amin, aminmax, atan2, cdist, ceil, celu, clamp, clamp_max, clamp_min, complex, "
    "copysign, cummax, cummin, deg2rad, digamma, div modes, erf, erfc, erfinv, "
    "F.adaptive_avg_pool1d, "
    "F.adaptive_avg_pool2d, F.adaptive_avg_pool3d, F.adaptive_max_pool1d, F.adaptive_max_pool2d, "
    "F.adaptive_max_pool3d, F.affine_grid, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d, "
    "F.batch_norm, F.binary_cross_entropy, F.binary_cross_entropy_with_logits, "
    "F.cosine_embedding_loss, F.cosine_similarity, F.cross_entropy, F.ctc_loss, F.elu, "
    "F.embedding_bag, F.fractional_max_pool2d, F.gaussian_nll_loss, F.gelu, F.glu, F.grid_sample, "
    "F.group_norm, F.gumbel_softmax, F.hardshrink, F.hardsigmoid, F.hardswish, F.hardtanh, "
    "F.hinge_embedding_loss, F.huber_loss, F.instance_norm, F.interpolate, F.kl_div, "
    "F.layer_norm, F.leaky_relu, F.linear_cross_entropy, F.logsigmoid, F.lp_pool1d, F.lp_pool2d, "
    "F.lp_pool3d, F.margin_ranking_loss, F.max_pool1d, F.max_pool2d, F.max_pool3d, "
    "F.max_unpool1d, F.max_unpool2d, F.max_unpool3d, F.mish, F.mse_loss, F.multi_margin_loss, "
    "F.multilabel_margin_loss, F.multilabel_soft_margin_loss, F.nll_loss, F.pdist, F.relu6, "
    "F.rrelu, F.scaled_dot_product_attention, F.smooth_l1_loss, F.soft_margin_loss, F.softmin, "
    "F.softplus, F.softshrink, F.upsample, F.upsample_bilinear, F.upsample_nearest, fft.fft "
    "sizes, fft.ihfft, fft.ihfft2, fft.ihfftn, fft.rfft, fft.rfft2, fft.rfftn, floor, fmax, fmin, "
    "fmod, frac, frexp, hypot, i0, igamma, igammac, imag, kthvalue, lgamma, log_softmax, "
    "logaddexp2, logit, masked, max, maximum, median, min, minimum, mode, msort, mvlgamma, "
    "nanmedian, nanquantile, nansum, nextafter, ops.torchvision.ps_roi_align, "
    "ops.torchvision.ps_roi_pool, ops.torchvision.roi_align, ops.torchvision.roi_pool, "
    "polar, polygamma, prelu, quantile, rad2deg, real, "
    "relu, remainder, rnn_relu_cell, round, scatter_reduce amax, scatter_reduce amin, selu, sign, "
    "softmax, sort, special.entr, special.erfcx, special.i0e, special.i1, special.i1e, "
    "special.log_ndtr, special.ndtr, special.ndtri, special.xlog1py, special.zeta, threshold, "
    "topk, trunc, view_as_complex, view_as_real, xlogy"
).split(", ")
#: What takes complex numbers here but not in PyTorch, or has no derivative of them there.
REAL_IN_TORCH = (
    "deg2rad, F.alpha_dropout, F.bilinear, F.conv_tbc, F.dropout, F.dropout1d, F.dropout2d, "
    "F.dropout3d, F.embedding, F.feature_alpha_dropout, F.local_response_norm, F.silu, "
    "index_reduce, nan_to_num, nanmean, rad2deg, scatter_reduce mean, scatter_reduce prod, "
    "scatter_reduce sum, select_scatter, slice_scatter"
).split(", ")


def among(key: str, names: list[str]) -> bool:
    """Whether a list names the example, or all examples of its operation."""
    key = key.replace("nn.functional.", "F.")
    return key in names or key.partition(" ")[0] in names


def find(library: Any, name: str) -> Any:
    for part in name.split("."):
        library = getattr(library, part)
    return library


def example_of(key: str) -> tuple[Any, list[Any]]:
    """The example's call, ``call(library, *tensors)``, and its arrays."""
    first, *rest = EXAMPLES[key]
    if callable(first):
        return first, rest

    return lambda library, *tensors: find(library, key)(*tensors), [first, *rest]


def turned(array: Any) -> Any:
    """Complex numbers made of an array's, where those are floating-point."""
    if array.dtype.kind != "f":
        return array
    return np.asarray(array + 1j * (0.6 * np.roll(array, 1) + 0.1))


def leaves(arrays: list[Any]) -> list[Any]:
    return [tt.tensor(np.array(a, order="C"), requires_grad=a.dtype.kind in "fc") for a in arrays]


def check_derivatives(key: str, arrays: list[Any]) -> None:
    """Compare both orders of derivatives with finite differences."""
    call, _ = example_of(key)
    tensors = leaves(arrays)
    order = {"nondet_tol": 1e-12}  # in which a GPU adds to one place is not fixed
    assert gradcheck(lambda *given: flatten(call(tt, *given)), tensors, **order)
    if key not in FIRST_ONLY:
        assert has_second_derivatives(lambda *given: flatten(call(tt, *given)), tensors)


@pytest.mark.parametrize("key", [k for k in EXAMPLES if k not in NOT_THE_DERIVATIVE])
def test_real_derivatives_are_differences(key: str) -> None:
    check_derivatives(key, example_of(key)[1])


@pytest.mark.parametrize("key", [k for k in EXAMPLES if k not in NOT_THE_DERIVATIVE])
def test_complex_derivatives_are_differences(key: str) -> None:
    call, arrays = example_of(key)
    arrays = [turned(a) for a in arrays]
    if among(key, REAL_ONLY):
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            call(tt, *leaves(arrays))
    else:
        check_derivatives(key, arrays)


@pytest.mark.torch
@pytest.mark.parametrize("key", [k for k in EXAMPLES if k not in NOT_TORCHS])
def test_real_derivatives_are_torchs(key: str) -> None:
    call, arrays = example_of(key)
    compare(call, *arrays, orders=FIRST_IN_TORCH.get(key, 2))


@pytest.mark.parametrize(
    "key", [k for k in EXAMPLES if k not in NOT_TORCHS and not among(k, REAL_IN_TORCH)]
)
def test_complex_derivatives_are_torchs(torch: Any, key: str) -> None:
    call, arrays = example_of(key)
    arrays = [turned(a) for a in arrays]
    if not among(key, REAL_ONLY):
        compare(call, *arrays, orders=FIRST_IN_TORCH.get(key, 2))
        return
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        call(torch, *(torch.tensor(a, requires_grad=a.dtype.kind == "c") for a in arrays))


#: Examples that ask how their tensor lies in memory.
OF_MEMORY = ("as_strided", "as_strided_copy", "as_strided_scatter", "view", "view_as",
             "view_as_complex", "view_copy", "_view")  # fmt: skip


def turned_around(array: Any) -> Any:
    """A row-major array whose first and last dimensions are swapped, where it has both."""
    return np.ascontiguousarray(np.swapaxes(array, 0, -1)) if array.ndim > 1 else array


@pytest.mark.torch
@pytest.mark.parametrize("key", [k for k in EXAMPLES if k not in (*NOT_TORCHS, *OF_MEMORY)])
def test_derivatives_by_views_are_torchs(key: str) -> None:
    call, arrays = example_of(key)
    orders = FIRST_IN_TORCH.get(key, 2)
    columns = lambda lib, *given: call(  # noqa: E731
        lib, *(x.transpose(0, -1) if x.ndim > 1 else x for x in given)
    )
    compare(columns, *map(turned_around, arrays), orders=orders)
    spread = lambda lib, *given: call(  # noqa: E731
        lib, *(x[..., ::2] if x.ndim else x for x in given)
    )
    compare(spread, *(np.repeat(a, 2, axis=-1) if a.ndim else a for a in arrays), orders=orders)


# -- a second backward pass -----------------------------------------------------------------------


def passes_twice(library: Any, call: Any, arrays: list[Any]) -> bool:
    """Whether a second backward pass is allowed where the first did not keep the graph."""
    tensors = [
        library.tensor(np.array(a, order="C"), requires_grad=a.dtype.kind in "fc") for a in arrays
    ]
    outs = [out for out in flatten(call(library, *tensors)) if getattr(out, "requires_grad", False)]
    total = sum((out.real if out.is_complex() else out).sum() for out in outs)
    total.backward()
    try:
        total.backward()
    except RuntimeError as error:
        assert "second time" in str(error)
        return False
    return True


@pytest.mark.parametrize("complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("key", [k for k in EXAMPLES if k not in NOT_TORCHS])
def test_a_second_backward_pass_is_refused_where_torch_refuses_it(
    torch: Any, key: str, complex: bool
) -> None:
    if complex and (among(key, REAL_ONLY) or among(key, REAL_IN_TORCH)):
        pytest.skip("for real numbers alone")
    call, arrays = example_of(key)
    arrays = [turned(a) for a in arrays] if complex else arrays
    assert passes_twice(tt, call, arrays) == passes_twice(torch, call, arrays)


# -- every operation has an example ----------------------------------------------------------------

#: Operations with a gradient rule and no example, and why.
WITHOUT_EXAMPLE = {
    "bernoulli": "a random number has the gradient 0",
    "poisson": "likewise",
    "_standard_gamma": "a random number: its gradient is in ops/random/test_random_gammas.py",
    "_sample_dirichlet": "likewise",
    "_copy_assigned": "comparisons in place have gradient 0: in autograd/programs",
    "attention_in_blocks": "for millions of scores: with small blocks in test_large_arrays.py",
    "window_max": "for many elements: with few in nn/test_pooling.py",
    "mean_and_scale": "results of functions of ATen: in nn/test_inner_forms.py",
    "_pin": "needs a GPU",
    "_sparse_embedding": "its gradient is sparse: tests/nn/test_sparse_gradients.py",
    "_multiply_mask": "needs a GPU",
    "cbrt": "PyTorch has none: it is tested against NumPy with the names that NumPy alone has",
}
#: Composites of other operations that give no derivatives, or whose examples are elsewhere.
OTHER_COMPOSITES = """
    _invert from_file _log_softmax_backward_data _softmax_backward_data
    addbmm_ allclose argsort as_tensor asarray broadcast_shapes bucketize can_cast constant_pad_nd
    detach detach_ from_dlpack frombuffer get_device is_complex is_floating_point is_signed numel
    convolution empty_like equal feature_dropout from_numpy full_like histogram histogramdd is_conj
    is_inference is_neg is_nonzero is_same_size is_tensor linalg.ldl_factor lu
    nn.functional.fractional_max_pool3d nn.functional.multi_head_attention_forward
    nn.functional.one_hot normal ones_like linalg.outer linalg.tensordot linalg.trace
    lobpcg pca_lowrank rand_like randint_like randn_like result_type
    scalar_tensor searchsorted svd_lowrank tensor tril_indices triu_indices unique
    unique_consecutive zeros_like
    Tensor.copy_ Tensor._where_method Tensor.argpartition Tensor.as_subclass
    _sum_of_squares _means _pad_edges Tensor.bernoulli_ Tensor.new
    Tensor.bool Tensor.byte Tensor.cauchy_ Tensor.cfloat Tensor.char Tensor.choose Tensor.compress
    Tensor.conjugate Tensor.copy Tensor.cuda Tensor.data_ptr Tensor.exponential_ Tensor.flat
    Tensor.bfloat16 Tensor.float Tensor.geometric_ Tensor.half Tensor.int Tensor.is_cpu
    Tensor.is_cuda Tensor.is_meta Tensor.is_pinned Tensor.is_quantized Tensor.is_sparse
    Tensor.log_normal_ Tensor.long
    Tensor.new_empty Tensor.new_empty_strided Tensor.new_full Tensor.new_ones
    Tensor.new_tensor Tensor.new_zeros Tensor.normal_ Tensor.pin_memory Tensor.random_
    Tensor.resize_ resize_as_ Tensor.short Tensor.storage_offset Tensor.to_device
    Tensor.uniform_ Tensor.storage Tensor.untyped_storage is_storage Tensor.apply_
    Tensor.reinforce Tensor.resize Tensor.resize_as eig lstsq matrix_rank solve symeig
    Tensor.dim_order Tensor.is_set_to Tensor.set_ Tensor.map2_ Tensor.map_
    affine_grid_generator alpha_dropout_ detach_copy dropout_ embedding_renorm_
    feature_alpha_dropout_ feature_dropout_ frobenius_norm grid_sampler grid_sampler_2d
    grid_sampler_3d max_pool1d_with_indices native_batch_norm native_dropout native_group_norm
    native_layer_norm nn.functional.adaptive_max_pool1d_with_indices
    nn.functional.adaptive_max_pool2d_with_indices nn.functional.adaptive_max_pool3d_with_indices
    nn.functional.fractional_max_pool2d_with_indices
    nn.functional.fractional_max_pool3d_with_indices nn.functional.max_pool2d_with_indices
    nn.functional.max_pool3d_with_indices norm_except_dim nuclear_norm rrelu_ select_copy
    slice_copy split_copy view_as_complex_copy view_as_real_copy
"""
#: The module whose operations answer for tensors of kinds that there are none of.
OF_OTHER_KINDS = "tinytorch.ops.create.unsupported_layouts"


def recorded(tensors: list[Any]) -> set[str]:
    """Names of the operations in the graph behind tensors."""
    names, seen, edges = set(), set(), [edge_of(t) for t in tensors]
    while edges:
        node = node_of(edges.pop())
        if node is not None and node.seq not in seen:
            seen.add(node.seq)
            names.add(getattr(node.op, "op", node.op).qualname)
            edges += node.edges
    return names


def behind(call: Any, tensors: list[Any], orders: int) -> set[str]:
    """What is recorded by a call, and by its gradients of some orders."""
    outs = flatten(call(tt, *tensors))
    watched = [t for t in tensors if t.requires_grad]
    names: set[str] = set()
    for order in range(orders + 1):
        outs = [o for o in outs if o.requires_grad]
        names |= recorded(outs)
        if not outs or order == orders:
            break
        loss = sum((o * o.conj()).real.sum() for o in outs)
        outs = list(grad(loss, watched, create_graph=True, materialize_grads=True))
    return names


#: Where ``exp`` overflows or vanishes inside of each; PyTorch's mish has no number far above 0.
FAR = {
    "nn.functional.silu": (-800, -95, 95, 800),
    "nn.functional.softplus": (-800, -95, 95, 800),
    "nn.functional.logsigmoid": (-800, -95, 95, 800),
    "nn.functional.glu": (-800, -95, 95, 800),
    "nn.functional.mish": (-800, -95),
    "special.log_ndtr": (-3, 3, 39, 95, 800),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FAR)
def test_second_derivatives_far_from_zero_are_numbers(torch: Any, name: str, dtype: str) -> None:
    found = []
    for library in (torch, tt):
        x = library.tensor(FAR[name], dtype=getattr(library, dtype), requires_grad=True)
        function = operator.attrgetter(name)(library)
        out = function(library.cat((x * 0 + 2, x)) if name.endswith("glu") else x)
        (first,) = library.autograd.grad(out.sum(), x, create_graph=True)
        (second,) = library.autograd.grad(first.sum(), x)
        found.append([g.detach().cpu().numpy() for g in (first, second)])
    rtol = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(found[1], found[0], rtol=rtol, atol=1e-30)


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_second_derivatives_of_a_product_of_zeros(torch: Any, name: str) -> None:
    """PyTorch refuses them; they are those of the product written out, which it has."""
    index, weights = tt.tensor([0, 0, 0, 1, 1]), tt.tensor([1.0, 2.0], dtype=tt.float64)

    def reduced(x: tt.Tensor, s: tt.Tensor) -> tt.Tensor:
        return (getattr(tt, name)(x, 0, index, s, "prod") * weights).sum()

    def written_out(x: Any, s: Any) -> Any:
        return x[0] * s[0] * s[1] * s[2] + 2 * x[1] * s[3] * s[4]

    found = []
    for lib, function in ((tt, reduced), (torch, written_out)):
        given = [lib.tensor(v, dtype=lib.float64) for v in ([2.0, 1.0], [0.0, 0.0, 3.0, 0.0, 5.0])]
        rows = lib.autograd.functional.hessian(function, tuple(given))
        found.append([[block.tolist() for block in row] for row in rows])
    assert found[0] == found[1]


def test_every_rule_has_an_example() -> None:
    registry.load_all()
    reached: set[str] = set()
    for key in EXAMPLES:
        call, arrays = example_of(key)
        orders = 1 if key in FIRST_ONLY else 2
        for given in (arrays, [turned(a) for a in arrays]):
            if given is arrays or not among(key, REAL_ONLY):
                reached |= behind(call, leaves(given), orders)
    # Operations whose rules all raise.
    without_derivative = {
        name
        for name, op in OPS.items()
        if op.backward.rules
        and all(getattr(rule, "missing", False) for rule in op.backward.rules.values())
    }
    differentiable = {name for name, op in OPS.items() if op.backward.differentiable}
    lacking = differentiable - without_derivative - reached - set(WITHOUT_EXAMPLE)
    assert not lacking, f"no example in array_examples or layer_examples: {sorted(lacking)}"


def test_every_composite_has_an_example() -> None:
    registry.load_all()
    keys = {key.partition(" ")[0] for key in EXAMPLES}
    keys |= {key.removeprefix("nn.functional.") for key in keys}
    # What NumPy alone has is differentiated in tests/numpy, against what NumPy computes.
    keys |= {*names.WANTED, *names.STANDARD_ONLY}
    composites = {
        n for n, op in OPS.items()
        if op.kernel is None and not n.startswith("numpy.")
        and inspect.unwrap(op.function).__module__ != OF_OTHER_KINDS
    }  # fmt: skip
    # Of lists, with their derivatives in test_foreach: the operation of the name on each tensor.
    composites -= {n for n in composites if n.startswith("_foreach_")}
    # With theirs in test_recurrent_layers, test_segments and test_names_in_use.
    keys |= {"rnn_relu", "rnn_tanh", "segment_reduce"}
    keys |= {"nn.functional.grouped_mm", "Tensor.module_load"}
    # Conversions of sparse tensors, in tests/ops/sparse, and their indices and layouts.
    keys |= {"sparse_csr_tensor", "sparse_csc_tensor", "sparse_compressed_tensor"}
    keys |= {f"Tensor.to_{name}" for name in
             ("dense", "sparse", "sparse_coo", "sparse_csr", "sparse_csc")}  # fmt: skip
    keys |= {"_convert_indices_from_coo_to_csr", "_convert_indices_from_csr_to_coo"}
    keys |= {"Tensor.dense_dim", "Tensor.sparse_dim", "Tensor.is_coalesced", "Tensor.values"}
    keys |= {"Tensor.coalesce", "Tensor._nnz", "Tensor._values", "Tensor._indices"}
    keys |= {f"Tensor.{name}indices" for name in ("", "crow_", "col_", "ccol_", "row_")}
    # Of memory, in tests/multiprocessing.
    keys |= {"Tensor.is_shared", "Tensor.share_memory_"}
    # Of memory too, and without a result or a derivative.
    keys |= {"Tensor._typed_storage", "Tensor.record_stream"}
    assert composites - keys <= set(OTHER_COMPOSITES.split())
