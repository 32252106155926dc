"""Exported programs give what the model gives: at other sizes, after a file, and in gradients."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn
from tinytorch.nn import functional as F
from tinytorch.utils import _pytree as pytree


class Net(nn.Module):
    """Convolutions with a buffer that is saved and one that is not."""

    scale: tt.Tensor
    offset: tt.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.head = nn.Linear(4, 3)
        self.register_buffer("scale", tt.full((3,), 2.0))
        self.register_buffer("offset", tt.ones(3), persistent=False)

    def forward(self, x: tt.Tensor) -> dict[str, tt.Tensor]:
        y = F.max_pool2d(self.features(x), 2).mean((2, 3))
        z = self.head(y) * self.scale + self.offset
        z[:, 0] = 0
        return {"logits": z, "features": y}


def reshaped(x: tt.Tensor) -> tuple[tt.Tensor, int]:
    b, t = x.shape
    y = x.view(b, t, 1).expand(-1, -1, 2).reshape(b * t, 2)
    y = y + tt.arange(2) + x.new_zeros(2)
    y[1:] *= 2
    return tt.cat([y, y]).to(tt.float64), b + t


def encoder() -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval()


def dims(*names: str) -> list[dict[int, str]]:
    return [dict(enumerate(names))]


#: Model, example, another input, names of its first dimensions.
MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any], Any]] = {
    "net": (lambda: Net().eval(), lambda: tt.randn(2, 1, 8, 8), lambda: tt.randn(5, 1, 8, 8),
            dims("batch")),
    "encoder": (encoder, lambda: tt.randn(2, 3, 8), lambda: tt.randn(4, 6, 8),
                dims("batch", "time")),
    "lstm": (lambda: nn.LSTM(4, 5, 2), lambda: tt.randn(3, 2, 4), lambda: tt.randn(3, 2, 4), None),
    "function": (lambda: reshaped, lambda: tt.randn(2, 3), lambda: tt.randn(4, 5), dims("b", "t")),
    "results": (lambda: tt.linalg.svd, lambda: tt.randn(3, 2), lambda: tt.randn(3, 2), None),
}  # fmt: skip


def equal(a: Any, b: Any) -> bool:
    pairs = zip(pytree.tree_leaves(a), pytree.tree_leaves(b), strict=True)
    return all(
        tt.allclose(x, y, rtol=1e-5, atol=1e-6) if isinstance(x, tt.Tensor) else x == y
        for x, y in pairs
    )


@pytest.mark.parametrize("name", MODELS)
def test_programs_give_what_the_model_gives_before_and_after_a_file(
    name: str, tmp_path: Path
) -> None:
    tt.manual_seed(0)
    make, example, other, dynamic = MODELS[name]
    model = make()
    program = tt.export.export(model, (example(),), dynamic_shapes=dynamic)
    tt.export.save(program, tmp_path / "program.zip")
    for each in (program, tt.export.load(tmp_path / "program.zip")):
        for x in (example(), other()):
            assert equal(each.module()(x), model(x)) and equal(each(x), model(x))


def test_gradients_and_training_go_through_a_program() -> None:
    tt.manual_seed(1)
    model = Net().eval()
    module = tt.export.export(model, (tt.randn(2, 1, 8, 8),)).module()
    x = tt.randn(2, 1, 8, 8)
    module(x)["logits"].square().sum().backward()
    found = [p.grad.clone() for p in module.parameters()]
    model.zero_grad()
    model(x)["logits"].square().sum().backward()
    assert equal(found, [p.grad for p in model.parameters()])


def test_a_program_has_the_state_dict_of_the_model() -> None:
    model = Net().eval()
    program = tt.export.export(model, (tt.randn(2, 1, 8, 8),))
    used = {name for name in model.state_dict() if not name.endswith("num_batches_tracked")}
    assert {*program.module().state_dict()} == {*program.state_dict} == used
    assert [name for name, _ in program.named_parameters()] == [
        n for n, _ in model.named_parameters()
    ]


def test_each_call_of_a_program_draws_new_random_numbers() -> None:
    model = nn.Dropout(0.5)
    program = tt.export.export(model, (tt.ones(9),))
    tt.manual_seed(3)
    expected = [model(tt.ones(9)), model(tt.ones(9))]
    tt.manual_seed(3)
    assert equal([program(tt.ones(9)), program(tt.ones(9))], expected)
    assert not tt.equal(*expected)


def test_a_drawing_has_frames_for_modules_and_edges_for_tensors() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x: tt.Tensor) -> tt.Tensor:
            return self.b(self.a(x).relu()) + x

    program = tt.export.export(nn.Sequential(Block(), nn.ReLU()), (tt.ones(2, 3),))
    text = str(tt.utils.draw(program))
    labels = dict(re.findall(r"(\w+) \[label=\"([^\"\\\\]*)", text))
    assert labels["n0"] == "a: Linear" and labels["n1"] == "relu" and labels["n4"] == "1: ReLU"
    assert r'"a: Linear\nweight 3 × 3\n(2, 3)"' in text
    assert re.findall(r'subgraph \w+ \{\s+label="([^"]*)"', text) == ["0: Block"]
    edges = set(re.findall(r"(\w+) -> (\w+)", text))
    assert edges == {("x0", "n0"), ("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("x0", "n3"),
                     ("n3", "n4"), ("n4", "y")}  # fmt: skip
    text = str(tt.utils.draw(program, depth=1))
    assert re.findall(r"(\w+) \[label=\"([^\"]*)", text) == [
        ("x0", r"input\nfloat32[2, 3]"), ("n0", r"0: Block\n(2, 3)"), ("n4", r"1: ReLU\n(2, 3)"),
        ("y", "output"),
    ]  # fmt: skip
    assert re.findall(r"(\w+) -> (\w+)", text) == [("x0", "n0"), ("n0", "n4"), ("n4", "y")]
    with pytest.raises(ValueError, match="expected depth of at least 1, got 0"):
        program.draw(0)


REFUSED: dict[str, tuple[Callable[[tt.Tensor], Any], str]] = {
    "number": (lambda x: x * x.sum().item(), "reads a number from a tensor"),
    "flow": (lambda x: x.relu() if x.shape[0] > 4 else x.exp(), "runs other operations"),
    "size": (lambda x: x.new_zeros(x.shape[0] // 2), "no sum of multiples"),
    "count": (lambda x: tt.stack(list(x)), "no sum of multiples"),
    "factor": (lambda x: x * (1 / x.shape[0]), "no sum of multiples"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_models_whose_program_would_be_wrong_are_refused(name: str) -> None:
    model, message = REFUSED[name]
    with pytest.raises(tt.export.ExportError, match=message):
        tt.export.export(model, (tt.randn(3, 4),), dynamic_shapes=[{0: tt.export.Dim("n")}])


@pytest.mark.parametrize(
    "other", [lambda: tt.ones(2, 4), lambda: tt.ones(2), lambda: tt.ones(2, 3).double()]
)
def test_inputs_that_differ_from_the_example_are_refused(other: Callable[[], tt.Tensor]) -> None:
    program = tt.export.export(nn.ReLU(), (tt.ones(2, 3),), dynamic_shapes=[{0: "batch"}])
    with pytest.raises(RuntimeError, match=r"expected input to be float32\[batch, 3\], got"):
        program(other())
    with pytest.raises(RuntimeError, match="expected 1 tensors, got 2"):
        program(tt.ones(2, 3), tt.ones(2, 3))


def rewritten(change: Callable[[dict[str, Any]], None]) -> io.BytesIO:
    """A file of a program whose JSON was changed."""
    file = io.BytesIO()
    tt.export.save(tt.export.export(nn.ReLU(), (tt.ones(2),)), file)
    program = json.loads(zipfile.ZipFile(file).read("program.json"))
    change(program)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("program.json", json.dumps(program))
    return made


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("os.system", "no operation 'os.system'"), ("from_file", "cannot be part of a program"),
        ("share_memory_", "cannot be part"), ("__reduce__", "no operation"),
        ("eval", "no operation"),
    ],
)  # fmt: skip
def test_files_that_name_anything_but_operations_are_refused(operation: str, message: str) -> None:
    def change(program: dict[str, Any]) -> None:
        program["steps"][0][0] = operation

    with pytest.raises(tt.export.ExportError, match=message):
        tt.export.load(rewritten(change))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04", b"{}"):
        with pytest.raises(tt.export.ExportError, match="no exported program"):
            tt.export.load(io.BytesIO(content))
    with pytest.raises(tt.export.ExportError, match="expected version 2, got 7"):
        tt.export.load(rewritten(lambda program: program.update(version=7)))
    with pytest.raises(tt.export.ExportError, match="unknown kind of argument 'pickle'"):
        tt.export.load(rewritten(lambda program: program.update(result={"pickle": "x"})))


def test_a_traced_model_is_saved_and_loaded_with_the_sizes_that_it_allows() -> None:
    tt.manual_seed(2)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    file = io.BytesIO()
    tt.jit.save(tt.jit.trace(model, tt.randn(1, 1, 8, 8)), file)
    loaded = tt.jit.load(file)
    x = tt.randn(3, 1, 10, 12)
    assert tt.equal(loaded(x), model(x))
    again = io.BytesIO()
    tt.jit.save(loaded, again)
    assert tt.equal(tt.jit.load(again)(x), model(x))
    assert loaded.code == str(loaded.program)
    with pytest.raises(RuntimeError, match="expected a model that jit.trace was called with"):
        tt.jit.save(nn.ReLU(), file)
    with pytest.raises(NotImplementedError, match="no TorchScript"):
        tt.jit.load(io.BytesIO(b"not a zip"))


def test_a_traced_module_shares_the_state_of_its_module() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    traced = tt.jit.trace(model, tt.randn(4, 2))
    assert type(traced).__name__ == "Sequential" and isinstance(traced, nn.Sequential)
    assert list(traced.state_dict()) == list(model.state_dict())
    with tt.no_grad():
        traced[0].weight.fill_(2.0)
    assert tt.equal(model[0].weight, tt.full((3, 2), 2.0)) and "relu" in traced.code
    file = io.BytesIO()
    traced.save(file)
    x = tt.randn(5, 2)
    assert tt.equal(tt.jit.load(file)(x), model(x))


def test_a_traced_function_is_saved() -> None:
    traced = tt.jit.trace(lambda x, y: (x @ y).sigmoid(), (tt.randn(2, 3), tt.randn(3, 2)))
    file = io.BytesIO()
    traced.save(file)
    x, y = tt.randn(4, 3), tt.randn(3, 2)
    assert tt.equal(tt.jit.load(file)(x, y), (x @ y).sigmoid())
    assert tt.equal(traced(x, y), (x @ y).sigmoid()) and "sigmoid" in str(traced.graph)
