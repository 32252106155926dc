"""Attention and transformers are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, words
from tests.nn import parity
from tests.oracles import assert_same_behavior, assert_same_error

array = parity.array
# PyTorch's remark on a fast path of its own.
pytestmark = [
    pytest.mark.torch, pytest.mark.filterwarnings("ignore:enable_nested_tensor is True"),
]  # fmt: skip


def tensors(lib: Any, *shapes: tuple[int, ...]) -> list[Any]:
    return [
        lib.tensor(array(*shape, dtype="float64", seed=seed), requires_grad=True)
        for seed, shape in enumerate(shapes)
    ]


def trained(lib: Any, layer: Any, inputs: list[Any], **options: Any) -> Any:
    """Outputs, and the gradients of inputs and parameters."""
    result = layer(*inputs, **options)
    results = result if isinstance(result, tuple) else [result]
    outputs = [each for each in results if each is not None]
    sum((each * each.cos()).sum() for each in outputs).backward()
    return [outputs, [x.grad for x in inputs], [p.grad for p in layer.parameters()]]


ATTENTION: list[Call] = [
    lambda nn: nn.MultiheadAttention(8, 2),
    lambda nn: nn.MultiheadAttention(8, 4, bias=False),
    lambda nn: nn.MultiheadAttention(8, 2, kdim=5, vdim=3),
    lambda nn: nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True),
    lambda nn: nn.MultiheadAttention(8, 2, batch_first=True),
]


def attention_inputs(lib: Any, layer: Any, batched: bool) -> list[Any]:
    shapes = [(4, 3, 8), (6, 3, layer.kdim), (6, 3, layer.vdim)]
    if layer.batch_first:
        shapes = [(b, t, n) for t, b, n in shapes]
    if not batched:
        shapes = [(4, 8), (6, layer.kdim), (6, layer.vdim)]
    return tensors(lib, *shapes)


@pytest.mark.parametrize("make", ATTENTION, ids=words)
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"average_attn_weights": False}])
def test_output_and_gradients_of_multihead_attention_are_pytorchs(
    make: Call, batched: bool, options: Any
) -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, make, "float64")
        return trained(lib, layer, attention_inputs(lib, layer, batched), **options)

    assert_same_behavior(run)


@pytest.mark.parametrize("kind", ["bool", "float", "heads"])
def test_multihead_attention_with_masks_is_pytorchs(kind: str) -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, lambda nn: nn.MultiheadAttention(8, 2), "float64")
        hidden = lib.tensor(array(6, 4, 6) > 1) if kind == "heads" else lib.tensor(array(4, 6) > 1)
        padding = lib.tensor([[False] * 5 + [True]] * 3)
        if kind == "float":
            hidden, padding = hidden.double(), padding.double()
        inputs = attention_inputs(lib, layer, True)
        return trained(lib, layer, inputs, attn_mask=hidden, key_padding_mask=padding)

    assert_same_behavior(run)


def test_self_attention_shares_one_product() -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(
            lib, lambda nn: nn.MultiheadAttention(8, 2, batch_first=True), "float64"
        )
        (x,) = tensors(lib, (3, 4, 8))
        output, weights = layer(x, x, x)
        output.sum().backward()
        return [output, weights, x.grad, layer.in_proj_weight.grad]

    assert_same_behavior(run)


LAYERS: list[Call] = [
    lambda nn: nn.TransformerEncoderLayer(8, 2, 16),
    lambda nn: nn.TransformerEncoderLayer(
        8, 2, 16, activation="gelu", norm_first=True, batch_first=True
    ),
    lambda nn, lib: nn.TransformerEncoderLayer(
        8, 2, 16, activation=lib.tanh, bias=False, layer_norm_eps=0.1
    ),
    lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
    lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 1, nn.LayerNorm(8)),
]
DECODERS: list[Call] = [
    lambda nn: nn.TransformerDecoderLayer(8, 2, 16),
    lambda nn: nn.TransformerDecoderLayer(
        8, 2, 16, activation="gelu", norm_first=True, batch_first=True
    ),
    lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2, nn.LayerNorm(8)),
]
WHOLE: list[Call] = [
    lambda nn: nn.Transformer(8, 2, 1, 2, 16),
    lambda nn: nn.Transformer(8, 2, 2, 1, 16, activation="gelu", batch_first=True, norm_first=True),
    lambda nn: nn.Transformer(8, 2, 1, 1, 16, bias=False),
]


@pytest.mark.parametrize("make", LAYERS, ids=words)
@pytest.mark.parametrize("masked", [False, True])
def test_output_and_gradients_of_transformer_encoders_are_pytorchs(
    make: Call, masked: bool
) -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, make, "float64").eval()
        (x,) = tensors(lib, (4, 4, 8))
        mask = lib.nn.Transformer.generate_square_subsequent_mask(4, dtype=lib.float64)
        return trained(lib, layer, [x], **({next_mask(layer): mask} if masked else {}))

    assert_same_behavior(run)


LEAVES_PADDING_OUT: list[Call] = [
    lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
    lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 4, 16, 0.1, "gelu", batch_first=True), 1, nn.LayerNorm(8)
    ),
    lambda nn: nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
]
COMPUTES_PADDING: list[Call] = [
    lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 1),
    lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 1, 16, batch_first=True), 1),
    lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, bias=False), 1
    ),
    lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 9, batch_first=True, norm_first=True), 1
    ),
    lambda nn, lib: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, 0.1, lib.tanh, batch_first=True), 1
    ),
    lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1, None, False
    ),
]
PADDING = {"tail": [[0, 0, 0, 0], [0, 1, 1, 1]], "front": [[0, 0, 0, 0], [1, 0, 0, 0]]}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("place", PADDING)
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("make", [*LEAVES_PADDING_OUT, *COMPUTES_PADDING], ids=words)
def test_encoders_with_padding_under_no_grad_are_pytorchs(
    make: Call, kind: str, place: str
) -> None:
    def run(lib: Any) -> Any:
        model = parity.make_layer(lib, make, "float64").eval()
        padding = lib.tensor(PADDING[place], dtype=lib.bool)
        if kind == "float":
            padding = lib.zeros(2, 4, dtype=lib.float64).masked_fill(padding, -lib.inf)
        shape = (2, 4, 8) if "batch_first" in str(words(make)) else (4, 2, 8)
        x = lib.tensor(array(*shape, dtype="float64"))
        inputs = [x, x] if str(words(make)).startswith("nn.Transformer(") else [x]
        with lib.no_grad():
            unseen = model(*inputs, src_key_padding_mask=padding)
        recorded = model(*inputs, src_key_padding_mask=padding)
        return [unseen, recorded.detach()]

    assert_same_behavior(run)


def next_mask(layer: Any) -> str:
    return "mask" if hasattr(layer, "layers") else "src_mask"


@pytest.mark.parametrize("make", DECODERS, ids=words)
@pytest.mark.parametrize("masked", [False, True])
def test_output_and_gradients_of_transformer_decoders_are_pytorchs(
    make: Call, masked: bool
) -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, make, "float64").eval()
        mask = lib.nn.Transformer.generate_square_subsequent_mask(4, dtype=lib.float64)
        options = {"tgt_mask": mask, "tgt_is_causal": True} if masked else {}
        return trained(lib, layer, tensors(lib, (4, 4, 8), (4, 4, 8)), **options)

    assert_same_behavior(run)


@pytest.mark.parametrize("make", WHOLE, ids=words)
def test_output_and_gradients_of_transformer_are_pytorchs(make: Call) -> None:
    def run(lib: Any) -> Any:
        model = parity.make_layer(lib, make, "float64").eval()
        padding = lib.tensor([[False, False, True]] * 3)
        return trained(
            lib, model, tensors(lib, (3, 3, 8), (3, 3, 8)), src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # fmt: skip

    assert_same_behavior(run)


@pytest.mark.parametrize("make", [LAYERS[0], WHOLE[0]], ids=words)
def test_dropout_of_transformers_draws_pytorchs_numbers(make: Call) -> None:
    def run(lib: Any) -> Any:
        model = parity.make_layer(lib, make, "float64")
        inputs = tensors(lib, (3, 3, 8), (3, 3, 8))
        lib.manual_seed(1)
        return model(*inputs[: 1 if "Layer" in str(words(make)) else 2])

    assert_same_behavior(run)


@pytest.mark.parametrize("make", [*ATTENTION, *LAYERS, *DECODERS, *WHOLE], ids=words)
def test_repr_and_initial_weights_of_transformers_are_pytorchs(make: Call) -> None:
    def run(lib: Any) -> Any:
        layer = parity.build(lib, make)
        return [repr(layer), layer.state_dict()]

    assert_same_behavior(run)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"),
    [
        ((3, 0, 4), (3, 0, 4)),
        ((0, 2, 4), (0, 2, 4)),
        ((3, 2, 4), (0, 2, 4)),
        ((0, 2, 4), (3, 2, 4)),
    ],
)
def test_attention_to_empty_sequences_has_pytorchs_shapes(
    queries: tuple[int, ...], keys: tuple[int, ...], average: bool
) -> None:
    def run(lib: Any) -> Any:
        layer = lib.nn.MultiheadAttention(4, 2)
        q, k = lib.ones(*queries), lib.ones(*keys)
        return [list(x.shape) for x in layer(q, k, k, average_attn_weights=average)]

    assert_same_behavior(run)


ERRORS: list[Call] = [
    lambda nn: nn.MultiheadAttention(0, 2),
    lambda nn: nn.MultiheadAttention(8, 3),
    lambda nn: nn.TransformerEncoderLayer(8, 2, activation="tanh"),
    lambda nn, lib: nn.Transformer(8, 2, 1, 1, 16)(lib.ones(3, 2, 8), lib.ones(3, 1, 8)),
    lambda nn, lib: nn.Transformer(8, 2, 1, 1, 16)(lib.ones(3, 2, 8), lib.ones(3, 2, 7)),
]


@pytest.mark.parametrize("use", ERRORS, ids=words)
def test_transformers_raise_pytorchs_errors(use: Call) -> None:
    assert_same_error(parity.as_library_call(use))


@pytest.mark.parametrize(
    ("query", "key", "value", "masks"),
    [
        ((3, 2, 4), (3, 4), (3, 4), {}),
        ((3, 4), (3, 2, 4), (3, 4), {}),
        ((3, 2, 4), (3, 2, 4), (3, 2, 4), {"key_padding_mask": (3,)}),
        ((3, 4), (3, 4), (3, 4), {"key_padding_mask": (2, 3)}),
        ((3, 2, 4), (3, 2, 4), (3, 2, 4), {"attn_mask": (3,)}),
        ((3, 4), (3, 4), (3, 4), {"attn_mask": (3,)}),
    ],
)
def test_masks_with_wrong_numbers_of_dimensions_raise_pytorchs_errors(
    query: Any, key: Any, value: Any, masks: Any
) -> None:
    texts = []
    for lib in (tt, parity.torch):
        layer = lib.nn.MultiheadAttention(4, 2)
        given = {name: lib.zeros(*shape, dtype=lib.bool) for name, shape in masks.items()}
        with pytest.raises(AssertionError) as caught:
            layer(lib.ones(*query), lib.ones(*key), lib.ones(*value), **given)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
