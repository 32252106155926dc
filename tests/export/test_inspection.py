"""FLOPs, summaries and profiles of exported programs: those of the models, by module."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.export.architectures import minilm, resnet18
from tinytorch import nn
from tinytorch.utils.flop_counter import FlopCounterMode, count_program, register_flop_formula


def recurrent(lib: Any) -> Any:
    class Net(lib.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = lib.nn.ModuleList(lib.nn.Linear(4, 4) for _ in range(2))
            self.gru = lib.nn.GRU(4, 5, batch_first=True)
            self.conv = lib.nn.Conv1d(5, 6, 3, padding=1)
            self.unused = lib.nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            y, _ = self.gru(x)
            return self.conv(y.transpose(1, 2)).transpose(1, 2) @ self.conv.weight[:, :, 0]

    return Net()


def tokens(lib: Any, batch: int, length: int) -> tuple[Any, ...]:
    ids = lib.arange(batch * length).view(batch, length) % 50
    return ids, lib.ones_like(ids), lib.zeros_like(ids)


#: Model, and its arguments for a batch.
MODELS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, int], tuple[Any, ...]]]] = {
    "resnet18": (lambda lib: resnet18(lib, width=8), lambda lib, n: (lib.ones(n, 3, 32, 32),)),
    "minilm": (lambda lib: minilm(lib, 2), lambda lib, n: tokens(lib, n, 5)),
    "recurrent": (recurrent, lambda lib, n: (lib.ones(n, 7, 4),)),
}


def exported(name: str) -> tuple[Any, Any]:
    make, arguments = MODELS[name]
    model, args = make(tt), arguments(tt, 2)
    return model, tt.export.export(model, args, dynamic_shapes=[{0: "batch"} for _ in args])


def counts_of(lib: Any, call: Callable[[], Any]) -> dict[str, dict[str, int]]:
    counter = import_module(f"{lib.__name__}.utils.flop_counter").FlopCounterMode(display=False)
    with counter:
        call()
    found = counter.get_flop_counts()
    return {name: {str(op): n for op, n in counts.items()} for name, counts in found.items()}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("batch", [2, 5])
def test_the_flops_of_a_program_are_those_that_pytorch_counts_by_module(
    torch: Any, name: str, batch: int
) -> None:
    make, arguments = MODELS[name]
    model, args = make(torch), arguments(torch, batch)
    theirs = counts_of(torch, lambda: model(*args))
    ours = count_program(exported(name)[1], {"batch": batch}).get_flop_counts()
    products = "aten.mm", "aten.addmm", "aten.bmm"  # PyTorch's choice depends on the memory order

    def merged(counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        return {
            module: {
                "products": sum(each.get(op, 0) for op in products),
                "convolutions": each.get("aten.convolution", 0),
            }
            for module, each in counts.items()
        }

    assert merged(ours) == merged(theirs)
    assert sum(theirs["Global"].values()) == sum(merged(theirs)["Global"].values()) > 0


@pytest.mark.parametrize("name", MODELS)
def test_a_program_counts_when_it_runs_as_the_model_does(name: str) -> None:
    model, program = exported(name)
    args = MODELS[name][1](tt, 3)
    expected = counts_of(tt, lambda: model(*args))
    assert counts_of(tt, lambda: program(*args)) == expected
    assert count_program(program, {"batch": 3}).get_flop_counts() == expected


def test_flops_of_a_program_are_a_closed_form_and_need_no_computation() -> None:
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 6 * 6, 4))
    program = tt.export.export(net, (tt.ones(2, 3, 8, 8),), dynamic_shapes=[{0: "n"}])
    conv, linear = 2 * 8 * 36 * 27, 2 * 288 * 4
    for n in (2, 10**9):  # two terabytes of pixels
        counts = count_program(program, {"n": n}).get_flop_counts()
        assert counts == {
            "Global": {"aten.convolution": n * conv, "aten.addmm": n * linear},
            "Sequential": {"aten.convolution": n * conv, "aten.addmm": n * linear},
            "Sequential.0": {"aten.convolution": n * conv},
            "Sequential.2": {"aten.addmm": n * linear},
        }
    with pytest.raises(ValueError, match=r"expected sizes of \['n'\], got \['m'\]"):
        count_program(program, {"m": 3})


def test_registered_formulas_count_in_programs() -> None:
    @register_flop_formula(tt.special.erfc)
    def erfc_flop(shape: Any, out_shape: Any = None) -> int:
        return 3 * int(out_shape.numel())

    program = tt.export.export(lambda x: tt.special.erfc(x), (tt.ones(2, 5),))
    assert count_program(program).get_flop_counts() == {"Global": {"erfc": 30}}
    assert "erfc" in count_program(program).get_table()


@pytest.mark.parametrize("name", MODELS)
def test_the_summary_of_a_program_is_that_of_the_model(name: str, tmp_path: Path) -> None:
    model, program = exported(name)
    tt.export.save(program, tmp_path / "program.zip")
    for each in (program, tt.export.load(tmp_path / "program.zip")):
        for batch in (2, 4):
            expected = tt.summary(model, input_data=MODELS[name][1](tt, batch))
            found = tt.summary(each, {"batch": batch})
            rows = [
                (a.name, a.kind, a.depth, a.calls, a.flops, a.output_size) for a in found.layers
            ]
            assert rows == [
                (b.name, b.kind, b.depth, b.calls, b.flops, b.output_size) for b in expected.layers
            ]
            assert found.total_flops == expected.total_flops
    used = {p for p, _ in program.named_parameters()}
    sizes = [p.numel() for n, p in model.named_parameters() if n in used]
    assert tt.summary(program).total_params == sum(sizes)


def test_a_container_shows_the_sum_of_its_layers_if_depth_hides_them() -> None:
    lines = str(tt.summary(exported("recurrent")[1], depth=1)).splitlines()
    # Two Linear(4, 4) on 2 * 7 rows: 2 * 20 parameters, 2 * 14 * 32 FLOPs.
    assert ["layers:", "ModuleList", "--", "40", "896"] in [line.split() for line in lines]


def test_a_profile_has_the_modules_of_a_program_and_of_its_gradients(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2)))
    program = tt.export.export(net, (tt.ones(5, 3),)).module()
    with tt.profiler.profile(with_modules=True, with_flops=True) as prof:
        program(tt.ones(5, 3)).sum().backward()
    found = {(e.key, e.module): e for e in prof.key_averages(group_by_module=True)}
    assert found["aten::linear", "Sequential.0"].flops == 2 * 5 * 3 * 4
    assert found["aten::linear", "Sequential.2.0"].flops == 2 * 5 * 4 * 2
    assert {("aten::relu", "Sequential.1"), ("ReluBackward0", "Sequential.1"),
            ("AddmmBackward0", "Sequential.2.0"), ("aten::sum", "")} <= found.keys()  # fmt: skip
    together = {e.key: e for e in prof.key_averages()}
    assert together["aten::linear"].count == 2 and together["aten::linear"].module == ""
    table = prof.key_averages(group_by_module=True).table()
    assert table.splitlines()[1].split()[:2] == ["Name", "Module"]
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    spans = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    modules = {span["args"].get("Module Hierarchy") for span in spans if span["ph"] == "X"}
    assert {"Sequential.0", "Sequential.1", "Sequential.2.0"} <= modules
    with tt.profiler.profile() as prof:
        program(tt.ones(5, 3))
    assert {event.module for event in prof.events()} == {""}


def test_modules_in_lists_are_named_after_the_model(torch: Any) -> None:
    def names(lib: Any) -> set[str]:
        model = recurrent(lib)
        return {*counts_of(lib, lambda: model(lib.ones(2, 7, 4)))}

    assert names(tt) == names(torch) > {"Net.layers.0", "Net.layers.1"}


def test_a_drawing_of_resnet_has_its_layers_as_boxes() -> None:
    program = exported("resnet18")[1]
    lines = tt.utils.draw(program, depth=2).source.splitlines()
    boxes = [line.split('"')[1].split("\\n")[0] for line in lines if " [label=" in line]
    assert boxes.count("0: BasicBlock") == boxes.count("1: BasicBlock") == 4
    assert boxes[0] == "input" and boxes[-1] == "output" and len(boxes) == 17
    frames = [line.split('"')[1] for line in lines if line.strip().startswith("label=")]
    assert frames == [f"layer{i}: Sequential" for i in range(1, 5)]
    assert len([line for line in lines if " -> " in line]) == 16  # a chain
    whole = tt.utils.draw(program).source
    # Each of 69 operations has one input, the eight sums have two, and so has the output one.
    assert whole.count('"downsample: Sequential"') == 3 and whole.count(" -> ") == 69 + 8 + 1


def test_the_mode_counts_what_a_program_counts() -> None:
    program = exported("recurrent")[1]
    with FlopCounterMode(display=False) as counter:
        program.module()(tt.ones(2, 7, 4))
    assert counter.get_total_flops() == count_program(program).get_total_flops()
