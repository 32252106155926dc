"""Files for TensorBoard, read back record by record."""

from __future__ import annotations

import importlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import program
from tests.runner import Runner

summary = pytest.importorskip("tensorboardX.proto.event_pb2")


def events(folder: Path) -> list[Any]:
    """The records of the files: a length, its checksum, the record and its checksum each."""
    found = []
    for path in sorted(folder.rglob("events.out.tfevents*")):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            found.append(summary.Event.FromString(data[12 : 12 + length]))
            data = data[16 + length :]
    return found


def values(folder: Path) -> dict[str, Any]:
    return {value.tag: (event.step, value) for event in events(folder)
            for value in event.summary.value}  # fmt: skip


def test_a_summary_writer_writes_every_kind_of_summary(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", tt.tensor(0.5, requires_grad=True), 3, new_style=True)
        writer.add_histogram("weights", tt.arange(4.0), 4)
        writer.add_image("image", tt.zeros(3, 2, 5, dtype=tt.uint8), 5)
        writer.add_text("text", "words", 6)
        writer.add_scalars("both", {"train": tt.tensor(1.0), "test": 2.0}, 7)
        writer.add_hparams({"lr": 0.1, "layers": tt.tensor(2)}, {"score": tt.tensor(3.0)})
        assert writer.get_logdir() == writer.log_dir == str(tmp_path)
    found = values(tmp_path)
    step, loss = found["loss"]
    assert (step, loss.simple_value) == (3, 0.5)
    step, histogram = found["weights"]
    assert step == 4 and (histogram.histo.num, histogram.histo.sum) == (4, 6)
    assert found["image"][1].image.height == 2 and found["image"][1].image.width == 5
    assert found["text/text_summary"][1].tensor.string_val == [b"words"]
    assert {event.step for event in events(tmp_path)} >= {3, 4, 5, 6, 7}


def test_ready_made_histograms_and_figures_are_written(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import SummaryWriter

    counts, edges = tt.tensor([1.0, 2.0]), tt.tensor([1.0, 2.0])
    curve = [tt.tensor([2, 1]), tt.tensor([3, 0]), tt.tensor([0, 3]), tt.tensor([0, 1])]
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram_raw("raw", 0, 2, 3, 4, 5, edges, counts, global_step=1)
        writer.add_pr_curve_raw("pr", *curve, tt.tensor([0.4, 1.0]), tt.tensor([1.0, 0.5]), 2, 2)
        writer.add_custom_scalars_multilinechart(["loss/train", "loss/test"])
    found = values(tmp_path)
    assert found["raw"][1].histo.num == 3 and list(found["raw"][1].histo.bucket) == [1, 2]
    assert "pr" in found and any("custom_scalars" in tag for tag in found)


def graph(folder: Path, package: str = "tensorboardX.proto") -> dict[str, Any]:
    """The nodes of the one graph that is written, by their names."""
    messages = importlib.import_module(f"{package}.graph_pb2")
    (found,) = [event.graph_def for event in events(folder) if event.graph_def]
    return {node.name: node for node in messages.GraphDef.FromString(found).node}


def shapes(node: Any) -> list[list[int]]:
    return [[dim.size for dim in shape.dim] for shape in node.attr["_output_shapes"].list.shape]


class Branches(tt.nn.Module):
    """Two inputs, a function with two results, a parameter of its own, several results."""

    def __init__(self) -> None:
        super().__init__()
        self.body = tt.nn.Sequential(tt.nn.Linear(3, 4), tt.nn.ReLU())
        self.fc = tt.nn.Linear(4, 2)
        self.scale = tt.nn.Parameter(tt.ones(2))

    def forward(self, x: Any, y: Any, unused: Any) -> Any:
        first, second = self.fc(self.body(x) + y).chunk(2, 1)
        return tt.cat([first * 2, second], 1) * self.scale, {"second": second}


def test_a_graph_is_read_back(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import SummaryWriter

    model = Branches()
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, (tt.ones(1, 3), tt.ones(1, 4), tt.ones(1)))
    assert model.training and not model.fc._forward_hooks
    nodes = graph(tmp_path)
    assert {name: (node.op, list(node.input)) for name, node in nodes.items()} == {
        "input/x": ("IO Node", []),
        "Branches/Sequential[body]/Linear[0]/weight": ("prim::GetAttr", []),
        "Branches/Sequential[body]/Linear[0]/bias": ("prim::GetAttr", []),
        "Branches/Sequential[body]/Linear[0]/linear": ("aten::linear", [
            "input/x", "Branches/Sequential[body]/Linear[0]/weight",
            "Branches/Sequential[body]/Linear[0]/bias"]),
        "Branches/Sequential[body]/ReLU[1]/relu": (
            "aten::relu", ["Branches/Sequential[body]/Linear[0]/linear"]),
        "input/y": ("IO Node", []),
        "Branches/add": ("aten::add", ["Branches/Sequential[body]/ReLU[1]/relu", "input/y"]),
        "Branches/Linear[fc]/weight": ("prim::GetAttr", []),
        "Branches/Linear[fc]/bias": ("prim::GetAttr", []),
        "Branches/Linear[fc]/linear": ("aten::linear", [
            "Branches/add", "Branches/Linear[fc]/weight", "Branches/Linear[fc]/bias"]),
        "Branches/chunk": ("aten::chunk", ["Branches/Linear[fc]/linear"]),
        "Branches/mul": ("aten::mul", ["Branches/chunk"]),
        "Branches/cat": ("aten::cat", ["Branches/mul", "Branches/chunk:1"]),
        "Branches/scale": ("prim::GetAttr", []),
        "Branches/mul_1": ("aten::mul", ["Branches/cat", "Branches/scale"]),
        "output/output.1": ("IO Node", ["Branches/mul_1"]),
        "output/output.2": ("IO Node", ["Branches/chunk:1"]),
    }  # fmt: skip
    assert shapes(nodes["Branches/chunk"]) == [[1, 1], [1, 1]]
    assert nodes["Branches/chunk"].attr["attr"].s == b"{chunks : 2, dim : 1}"
    assert shapes(nodes["output/output.1"]) == [[1, 2]]


def test_in_place_writes_are_edges_of_the_graph_of_a_module(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import SummaryWriter

    class Writes(tt.nn.Module):
        def forward(self, x: Any) -> Any:
            x = x.clone()
            x.add_(1)
            x[0] = 2
            return self.kept + x

    model = Writes()
    model.kept = [tt.ones(2)][0]  # no parameter, no buffer, no input
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(model, tt.zeros(2))
    nodes = graph(tmp_path)
    assert list(nodes["Writes/setitem"].input) == ["Writes/add_"]
    assert list(nodes["Writes/add"].input) == ["Writes/constant", "Writes/setitem"]
    assert nodes["Writes/constant"].op == "prim::Constant"


def test_a_graph_of_what_is_no_module_is_refused(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer, pytest.raises(TypeError, match="a nn.Module, got int"):
        writer.add_graph(3, tt.ones(1))


def test_an_error_of_the_model_leaves_it_as_it_was(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import SummaryWriter

    model = tt.nn.Sequential(tt.nn.Linear(2, 2), tt.nn.LSTM(3, 3))
    with SummaryWriter(tmp_path) as writer, pytest.raises(RuntimeError):
        writer.add_graph(model, tt.ones(1, 2))
    assert all(m.training and not m._forward_hooks and not m._forward_pre_hooks
               for m in model.modules())  # fmt: skip
    assert not any(event.graph_def for event in events(tmp_path))


def test_the_error_without_tensorboard_says_what_to_install(runner: Runner) -> None:
    def asks() -> None:
        import importlib.util as util

        found, util.find_spec = (
            util.find_spec,
            lambda name: None if "board" in name else found(name),
        )
        try:
            from tinytorch.utils.tensorboard import SummaryWriter  # noqa: F401
        except ImportError as error:
            print(error)

    assert "pip install tensorboardX" in runner.python("-c", program(asks)).stdout


def test_messages_are_those_of_tensorboardx() -> None:
    from tensorboardX import summary as theirs

    from tinytorch.utils.tensorboard import summary

    chosen, metrics = {"lr": 0.1, "layers": 3, "name": "x", "none": None}, {"score": 1.0}
    assert summary.hparams(chosen, metrics) == theirs.hparams(chosen, metrics)
    assert summary.text("t", "words") == theirs.text("t", "words")
    assert summary.scalar("s", tt.tensor(3.0)) == theirs.scalar("s", 3.0)
    edges = [0.0, 1.0, 2.0]
    ours, its = summary.histogram("h", tt.tensor([0.5, 1.5, 1.0]), edges).value[0].histo, (
        theirs.histogram("h", np.array([0.5, 1.5, 1.0]), edges).value[0].histo
    )  # fmt: skip
    assert (ours.num, ours.sum, ours.sum_squares) == (its.num, its.sum, its.sum_squares)
    picture = np.ones((3, 2, 2), np.float32)
    assert summary.image("i", tt.tensor(picture)) == theirs.image("i", picture)


def test_messages_of_hyperparameters_name_their_values() -> None:
    from tinytorch.utils.tensorboard import summary

    plugin = importlib.import_module("tensorboardX.proto.plugin_hparams_pb2")
    experiment, _, end = summary.hparams({"lr": 0.1, "n": "a"}, {}, {"n": ["a", "b"]})
    data = plugin.HParamsPluginData.FromString(experiment.value[0].metadata.plugin_data.content)
    found = {info.name: list(info.domain_discrete.values) for info in data.experiment.hparam_infos}
    assert [each.string_value for each in found["n"]] == ["a", "b"] and not found["lr"]
    assert end.value[0].tag == "_hparams_/session_end_info"
    with pytest.raises(TypeError, match="hparam_dict should be a dictionary"):
        summary.hparams(3, {})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"hparam_domain_discrete\[n\] should be a list of same"):
        summary.hparams({"n": 1}, {}, {"n": ["a"]})
    with pytest.raises(ValueError, match="one of int, float, str, bool"):
        summary.hparams({"n": object()}, {})


def test_summaries_are_added_to_the_file_of_a_writer(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import FileWriter, SummaryWriter, summary

    with SummaryWriter(tmp_path / "a") as writer:  # as Lightning's logger does
        for message in summary.hparams({"lr": 0.1}, {"score": -1}):
            writer._get_file_writer().add_summary(message, 4)
        writer.file_writer.add_summary(summary.scalar("s", 1.0))
    file = FileWriter(tmp_path / "b", filename_suffix=".mine")
    file.add_summary(summary.scalar("loss", 0.5), 3, 7.0)
    file.close()
    assert {tag for tag in values(tmp_path / "a") if "session" in tag} == {
        "_hparams_/session_start_info", "_hparams_/session_end_info",
    }  # fmt: skip
    assert values(tmp_path / "b")["loss"][0] == 3
    assert next((tmp_path / "b").iterdir()).name.endswith(".mine")


def test_tensorboard_alone_writes_numbers_texts_and_hyperparameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tensorboard.summary")
    from tinytorch.utils import tensorboard
    from tinytorch.utils.graph_drawing import CallNode

    monkeypatch.setattr(tensorboard.summary, "writer_package", lambda: "tensorboard")
    writer = tensorboard.SummaryWriter(tmp_path)
    writer.add_hparams({"lr": 0.1}, {"score": 3}, {"lr": [0.1, 1.0]}, run_name=".")
    writer.add_scalar("loss", 0.5, 3)
    writer.add_histogram("weights", range(4), 4)
    writer.add_text("text", "words", 5)
    writer.add_scalars("both", {"train": 1.0}, 6)
    node = CallNode("Net/relu", "aten::relu", ("input/x",), ((2, 3),), "{}")
    writer.file_writer.add_onnx_graph(tensorboard._graph_def([node]))
    with pytest.raises(NotImplementedError, match="pip install tensorboardX"):
        writer.add_image("image", None)
    writer.close()
    writer.flush()  # nothing to do, as PyTorch's
    writer.add_scalar("later", 0.5, 7)
    writer.close()
    found = values(tmp_path)
    assert {tag: step for tag, (step, _) in found.items()} == {
        "loss": 3, "weights": 4, "text/text_summary": 5, "both": 6, "later": 7, "score": 0,
        **{f"_hparams_/{name}": 0
           for name in ("experiment", "session_start_info", "session_end_info")},
    }  # fmt: skip
    assert found["weights"][1].histo.sum == 6
    assert shapes(graph(tmp_path, "tensorboard.compat.proto")["Net/relu"]) == [[2, 3]]
