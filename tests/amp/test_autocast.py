"""``autocast``: the dtypes of results are PyTorch's, operation by operation."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.core.torch_function import PLAIN
from tinytorch.dispatch.autocast import LOWER, POLICIES, WIDE

pytest.importorskip("ml_dtypes", reason="the extra [lowp] is not installed")
pytestmark = pytest.mark.skipif(
    "config.getoption('--backend') != 'numpy'", reason="CuPy's tensors have no such dtypes"
)

#: Calls with a float32 matrix ``x`` and what it is in the lower dtype, ``h``.
CALLS = (
    "x @ x", "lib.matmul(x, x)", "x.mm(x)", "lib.bmm(x[None], x[None])", "lib.addmm(x, x, x)",
    "lib.addbmm(x, x[None], x[None])", "lib.baddbmm(x[None], x[None], x[None])", "F.linear(x, x)",
    "lib.mv(x, x[0])", "lib.dot(x[0], x[0])", "lib.addmv(x[0], x, x[0])", "lib.outer(x[0], x[0])",
    "F.conv1d(x[None], x[:, :, None])", "F.conv2d(x[None, None], x[None, None])",
    "F.conv3d(x[None, None, None], x[None, None, None])", "lib.linalg.vecdot(x, x)",
    "F.conv_transpose1d(x[None], x[:, :, None])", "lib.linalg.multi_dot([x, x, x])",
    "F.conv_transpose2d(x[None, None], x[None, None])", "F.prelu(x, x[0, :1])",
    "F.scaled_dot_product_attention(x[None], x[None], x[None])", "lib.einsum('ij,jk->ik', x, x)",
    "lib.einsum('ij,ij->ij', x, x)", "lib.einsum('ij->i', x)", "lib.tensordot(x, x, 1)",
    "lib.inner(x, x)", "lib.inner(x[0], x[0])", "F.bilinear(x, x, x[None])", "lib.kron(x, x)",
    "x + x", "x + h", "h + h", "x.sum()", "h.sum()", "F.softmax(h, 1)", "h.exp()", "h.pow(2)",
    "F.layer_norm(h, (4,))", "F.mse_loss(h, h)", "F.l1_loss(h, x)", "F.smooth_l1_loss(h, h)",
    "F.huber_loss(h, h)", "F.kl_div(h, h)", "F.soft_margin_loss(h, h)", "F.cross_entropy(h, c)",
    "F.nll_loss(h, c)", "F.multi_margin_loss(h, c)", "F.cosine_embedding_loss(h, h, h[0])",
    "F.hinge_embedding_loss(h, h)", "F.margin_ranking_loss(h, h, h)", "F.poisson_nll_loss(h, h)",
    "F.triplet_margin_loss(h, h, h)", "F.binary_cross_entropy_with_logits(h, h)",
    "F.binary_cross_entropy(h.sigmoid(), h.sigmoid())", "h.prod()", "lib.cdist(h, h)", "h.trace()",
    "lib.linalg.inv(h + lib.eye(4))", "lib.fft.fft(h)", "lib.linalg.svdvals(h)",
    "lib.quantile(h, 0.5)",
    "F.avg_pool3d(h[None, None], 1)", "F.avg_pool2d(h[None], 1)",
    "F.adaptive_avg_pool3d(h[None, None], 1)",
    "F.pad(h[None], (1, 1), mode='reflect')", "F.pad(h[None], (1, 1))", "lib.polar(h, h)",
    "F.pad(h[None], (1, 1), mode='replicate')", "lib.cat([x, h])", "lib.cat([h, h])",
    "lib.stack([x, h])", "lib.index_copy(x, 0, c, x)",
    "F.grid_sample(h[None, None], h.reshape(1, 2, 4, 2), align_corners=False)",
    "F.relu(h)", "F.gelu(x)", "h.mean()", "h.var()", "lib.norm(h)", "F.normalize(h)", "x.cumsum(0)",
    "F.interpolate(h[None, None], scale_factor=2)", "F.embedding(c, x)", "lib.cov(x)",
    "lib.nn.MultiheadAttention(4, 2)(x, x, x)[0]", "lib.nn.GRU(4, 3)(x)[0]",
    "lib.nn.LSTM(4, 3)(x)[0]", "lib.nn.LSTM(4, 3)(h)[1][1]", "lib.nn.LSTM(4, 3, 2)(x[None])[1][0]",
    "lib.nn.LSTM(4, 3, proj_size=2)(x)[0]", "lib.nn.GRU(4, 3)(h)[0]", "lib.linalg.pinv(x)",
    "lib.linalg.pinv(x + x.T, hermitian=True)", "lib.pinverse(x)", "lib.linalg.pinv(x.double())",
    "lib.nn.LSTM(4, 3, dtype=lib.float64)(x.double())[0]", "lib.tensordot(x[:, :1], x[:1].T, 1)",
    "lib.nn.LSTM(4, 3)(lib.nn.utils.rnn.pack_sequence([x, x[1:]])).__getitem__(0).data",
    "lib.tensordot(x[:, :1].T, x[:, 1:2], 1)", "lib.tensordot(x, x, [[0, 1], [1, 0]])",
    "lib.nn.MultiheadAttention(4, 2)(x, x, x, attn_mask=x)[1]",
    "lib.nn.TransformerEncoderLayer(4, 2, 8)(x)", "lib.nn.LSTMCell(4, 3)(x)[0]",
    "x.double() @ x.double()", "lib.matmul(x, x, out=lib.zeros(4, 4))", "x.clone().addmm_(x, x)",
)  # fmt: skip


def result(lib: Any, text: str, name: str) -> str:
    """The dtype of a call's result in a block of ``autocast``."""
    dtype = getattr(lib, name)
    lib.manual_seed(0)
    x = lib.rand(4, 4)
    names = {"lib": lib, "F": lib.nn.functional, "x": x, "h": x.to(dtype), "c": lib.arange(4)}
    with lib.autocast("cpu", dtype=dtype):
        return repr(eval(text, names).dtype).rpartition(".")[2]


@pytest.mark.filterwarnings("ignore:.*reduction:UserWarning", "ignore:LSTM with projections")
@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("text", CALLS)
def test_result_dtypes_under_autocast_are_pytorchs(torch: Any, text: str, name: str) -> None:
    try:
        wanted = result(torch, text, name)
    except RuntimeError as error:
        pytest.skip(f"PyTorch does not compute it: {error}")
    assert result(tt, text, name) == wanted


@pytest.mark.parametrize("text", [
    "lib.nn.LSTM(4, 3, 2, bidirectional=True)", "lib.nn.LSTM(4, 3, batch_first=True)",
])  # fmt: skip
def test_an_lstm_under_autocast_is_as_precise_as_pytorchs(torch: Any, text: str) -> None:
    """To the same numbers in float64: PyTorch's rounds at every step."""
    values = np.random.RandomState(0).randn(5, 2, 4).astype("float32")
    found = []
    for lib, dtype in ((tt, tt.float32), (torch, torch.float32), (torch, torch.float64)):
        lib.manual_seed(0)
        layer, x = eval(text, {"lib": lib}), lib.tensor(values)
        if dtype is torch.float64:
            layer, x = (given.to(lib.bfloat16).to(dtype) for given in (layer, x))
        x.requires_grad_()
        with lib.autocast("cpu", dtype=lib.bfloat16):
            try:
                output, state = layer(x)
            except RuntimeError as error:
                if lib is torch and "could not create a primitive descriptor" in str(error):
                    pytest.skip("PyTorch has no LSTM in bfloat16 for this processor")
                raise
        (output.to(dtype) ** 2).sum().backward()
        assert x.grad.dtype is dtype
        parts = (output, *state, x.grad, layer.weight_hh_l0.grad)
        found.append([part.detach().double().numpy() for part in parts])
    for ours, theirs, exact in zip(*found, strict=True):
        allowed = 2**-8 * abs(exact) + abs(theirs - exact).max()
        assert (abs(ours - exact) <= allowed).all()


def test_a_pseudoinverse_is_computed_in_float32() -> None:
    x = tt.tensor([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    with tt.autocast("cpu"):
        found = tt.linalg.pinv(x)
    assert found.tolist() == tt.linalg.pinv(x).bfloat16().tolist()


def test_every_name_on_the_lists_of_the_cpu_is_pytorchs(torch: Any) -> None:
    """Or one that is made there of what is on them."""
    made_of_others = {"tensordot", "inner", "einsum", "cross_entropy", "grid_sample",
                      "max_unpool1d", "linear_cross_entropy", "linalg_pinv", "reflection_pad",
                      "replication_pad"}  # fmt: skip
    schemas = torch._C._jit_get_all_schemas()
    listed = set()
    for schema in schemas:
        full = f"{schema.name}.{schema.overload_name}".rstrip(".")
        with suppress(RuntimeError):  # one that no dispatcher has
            if torch._C._dispatch_has_kernel_for_dispatch_key(full, "AutocastCPU"):
                listed.add(schema.name.removeprefix("aten::"))
    ours = {name for name, policy in POLICIES["cpu"].items() if policy != "kept"}
    assert ours - listed == made_of_others


def test_autocast_blocks_can_be_nested() -> None:
    x = tt.ones(2, 2)
    with tt.autocast("cpu"):
        with tt.autocast("cpu", enabled=False):
            assert (x @ x).dtype is tt.float32 and not tt.is_autocast_enabled("cpu")
            with tt.autocast("cpu", dtype=tt.float16):
                assert (x @ x).dtype is tt.float16
        assert (x @ x).dtype is tt.bfloat16
    assert (x @ x).dtype is tt.float32 and tt.Tensor in PLAIN


def test_autocast_is_off_after_an_error_in_its_block() -> None:
    with pytest.raises(ZeroDivisionError), tt.autocast("cpu"):
        assert tt.Tensor not in PLAIN
        raise ZeroDivisionError
    assert tt.Tensor in PLAIN and not tt.is_autocast_enabled("cpu")


def test_autocast_as_a_decorator_holds_during_the_call() -> None:
    @tt.autocast("cpu")
    def product(x: tt.Tensor) -> tt.Tensor:
        return x @ x

    assert product(tt.ones(2, 2)).dtype is tt.bfloat16


def cast_of_second(product: tt.Tensor) -> object:
    """The node of the cast of the second factor: behind rounding, product and widening."""
    for place in (0, 1, 0):
        product = (getattr(product, "grad_fn", None) or product).next_functions[place][0]
    return product


def test_casts_of_weights_are_kept_within_a_block() -> None:
    weight, x = tt.ones(2, 2, requires_grad=True), tt.ones(2, 2)
    with tt.autocast("cpu"):
        casts = [cast_of_second(x @ weight) for _ in range(2)]
    assert casts[0] is casts[1]
    with tt.autocast("cpu", cache_enabled=False):
        casts = [cast_of_second(x @ weight) for _ in range(2)]
    assert casts[0] is not casts[1]


def test_a_cast_made_without_a_graph_is_not_used_for_one() -> None:
    weight = tt.ones(2, 2, requires_grad=True)
    with tt.autocast("cpu"):
        with tt.no_grad():
            _ = weight @ weight
        (weight @ tt.ones(2, 2)).sum().backward()
    assert weight.grad is not None and weight.grad.dtype is tt.float32


def test_custom_fwd_and_custom_bwd_apply_autocast_as_in_pytorch(lib: Any) -> None:
    seen = []

    class Product(lib.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            seen.append(lib.is_autocast_enabled("cpu"))
            return (g @ x + x @ g).float()

    x = lib.ones(2, 2, requires_grad=True)
    with lib.autocast("cpu", dtype=lib.bfloat16):
        y = Product.apply(x)
    y.sum().backward()
    assert y.dtype is lib.bfloat16 and seen == [True] and x.grad.tolist() == [[4.0, 4.0]] * 2

    @lib.amp.custom_fwd(device_type="cpu", cast_inputs=lib.float32)
    def forward(ctx: Any, x: Any) -> Any:
        return x @ x

    with lib.autocast("cpu", dtype=lib.bfloat16):
        assert forward(type("Context", (), {})(), lib.ones(2, 2).bfloat16()).dtype is lib.float32


def test_training_runs_to_pytorchs_loss(torch: Any) -> None:
    losses = []
    for lib in (tt, torch):
        lib.manual_seed(0)
        layers = (lib.nn.Linear(8, 32), lib.nn.LayerNorm(32), lib.nn.GELU(), lib.nn.Linear(32, 4))
        model = lib.nn.Sequential(*layers)
        optimizer = lib.optim.AdamW(model.parameters(), lr=0.01)
        scaler = lib.amp.GradScaler("cpu")
        x = lib.randn(64, 8)
        target = x[:, :4].argmax(1)
        for _ in range(30):
            optimizer.zero_grad()
            with lib.autocast("cpu", dtype=lib.bfloat16):
                output = model(x)
                loss = lib.nn.functional.cross_entropy(output, target)
            assert output.dtype is lib.bfloat16 and loss.dtype is lib.float32
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        assert model[0].weight.grad.dtype is lib.float32
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=0.03)


def test_autocast_lists_of_the_gpu_differ_from_the_cpus() -> None:
    cpu, cuda = POLICIES["cpu"], POLICIES["cuda"]
    assert cuda["mv"] == LOWER and "mv" not in cpu and cuda["exp"] == WIDE and "exp" not in cpu
    assert cpu["linalg_inv"] == WIDE and "linalg_inv" not in cuda


def test_autocast_with_wrong_arguments_raises_pytorchs_errors(lib: Any) -> None:
    with pytest.raises(RuntimeError, match="unsupported autocast device_type|Expected one of cpu"):
        lib.autocast("nowhere")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        lib.autocast(1)
    with pytest.warns(UserWarning, match="target dtype is not supported"):
        assert not lib.autocast("cpu", dtype=lib.float64)._enabled
