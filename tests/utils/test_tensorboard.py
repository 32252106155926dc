"""Files for TensorBoard, read back record by record."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

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


def test_what_is_written(tmp_path: Path) -> None:
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


def test_counts_and_charts_that_are_ready(tmp_path: Path) -> None:
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


def test_no_graphs(tmp_path: Path) -> None:
    from tinytorch.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer, pytest.raises(NotImplementedError, match="no graphs"):
        writer.add_graph(tt.nn.Linear(1, 1), tt.ones(1))


def test_without_a_library_that_writes_it_says_what_to_install(runner: Runner) -> None:
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


def test_tensorboard_alone_writes_numbers_and_texts(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard.summary")
    from tinytorch.utils import tensorboard

    writer = tensorboard._Plain(str(tmp_path), max_queue=10, flush_secs=120, filename_suffix="")
    writer.add_scalar("loss", 0.5, 3)
    writer.add_histogram("weights", range(4), 4)
    writer.add_text("text", "words", 5)
    writer.add_scalars("both", {"train": 1.0}, 6)
    with pytest.raises(NotImplementedError, match="pip install tensorboardX"):
        writer.add_image("image", None)
    writer.close()
    found = values(tmp_path)
    assert {tag: step for tag, (step, _) in found.items()} == {
        "loss": 3, "weights": 4, "text": 5, "both": 6,
    }  # fmt: skip
    assert found["weights"][1].histo.sum == 6
