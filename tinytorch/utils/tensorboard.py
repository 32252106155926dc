"""Records of training for TensorBoard, as ``torch.utils.tensorboard`` writes them.

Files are written by ``tensorboardX``, or by ``tensorboard`` where that alone is installed, which
leaves scalars, texts, histograms and graphs. Importing this module without either is an
ImportError.

Reference: https://www.tensorflow.org/tensorboard
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from functools import partialmethod
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

from ..backends.errors import how_to_install
from ..core.tensor import Tensor
from ..nn.module import Module
from .graph_drawing import CallNode, call_graph

__all__ = ["SummaryWriter"]

if find_spec("tensorboardX") is None and find_spec("tensorboard") is None:
    raise ImportError(
        f"writing files for TensorBoard needs tensorboardX: {how_to_install('tensorboardX')}"
    )


def _to_numbers(value: Any) -> Any:
    """Tensors as arrays of NumPy's, also in dicts, lists and tuples."""
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, dict):
        return {key: _to_numbers(part) for key, part in value.items()}
    return type(value)(map(_to_numbers, value)) if type(value) in (list, tuple) else value


def _to_number(value: Any) -> float:
    """A number, or the element of a tensor."""
    return float(value.detach() if isinstance(value, Tensor) else value)


class SummaryWriter:
    """Writes what TensorBoard shows into files of one directory.

    Beside the methods below it has ``add_audio add_custom_scalars add_custom_scalars_marginchart
    add_custom_scalars_multilinechart add_embedding add_figure add_histogram add_histogram_raw
    add_image add_image_with_boxes add_images add_mesh add_pr_curve add_pr_curve_raw add_scalars
    add_text add_video``, which take what tensorboardX's take, and tensors for arrays.

    Args:
        log_dir: The directory; default ``runs/`` and the time, the machine and ``comment``.
        comment: End of the default directory's name.
        purge_step: The step from which on records of a run before are hidden.
        max_queue: How many records wait until they are written.
        flush_secs: After how many seconds they are written at the latest.
        filename_suffix: End of the file's name.

    Example:
        >>> import os, tempfile
        >>> import tinytorch as tt
        >>> from tinytorch.utils.tensorboard import SummaryWriter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = SummaryWriter(folder)
        ...     writer.add_scalar("loss", tt.tensor(0.5), 1)
        ...     writer.add_histogram("weights", tt.arange(4.0), 1)
        ...     writer.add_hparams({"lr": 0.1}, {"score": 0.9})
        ...     writer.flush()
        ...     writer.close()
        ...     max(os.listdir(writer.get_logdir())).startswith("events.out.tfevents")
        True
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        directory = _default_directory(comment) if not log_dir else os.fspath(log_dir)
        options = {"max_queue": max_queue, "flush_secs": flush_secs}
        self.log_dir = directory
        self._writer: Any
        if find_spec("tensorboardX") is None:
            self._writer = _Plain(directory, filename_suffix=filename_suffix, **options)
            return
        import tensorboardX

        self._writer = tensorboardX.SummaryWriter(
            directory, purge_step=purge_step, filename_suffix=filename_suffix, **options
        )

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Record one number.

        Args:
            tag: Its name.
            scalar_value: A number, or a tensor of one element.
            global_step: The step of training.
            walltime: Seconds since 1970; default now.
            new_style: Without effect: it is written as numbers have always been.
            double_precision: Without effect: it is written as a float32.
        """
        self._writer.add_scalar(tag, _to_number(scalar_value), global_step, walltime)

    def _pass_on(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Call tensorboardX's method of a name, with tensors as arrays."""
        getattr(self._writer, name)(*_to_numbers(args), **_to_numbers(kwargs))

    add_audio = partialmethod(_pass_on, "add_audio")
    add_custom_scalars = partialmethod(_pass_on, "add_custom_scalars")
    add_custom_scalars_marginchart = partialmethod(_pass_on, "add_custom_scalars_marginchart")
    add_custom_scalars_multilinechart = partialmethod(_pass_on, "add_custom_scalars_multilinechart")
    add_embedding = partialmethod(_pass_on, "add_embedding")
    add_figure = partialmethod(_pass_on, "add_figure")
    add_histogram = partialmethod(_pass_on, "add_histogram")
    add_histogram_raw = partialmethod(_pass_on, "add_histogram_raw")
    add_image = partialmethod(_pass_on, "add_image")
    add_image_with_boxes = partialmethod(_pass_on, "add_image_with_boxes")
    add_images = partialmethod(_pass_on, "add_images")
    add_mesh = partialmethod(_pass_on, "add_mesh")
    add_pr_curve = partialmethod(_pass_on, "add_pr_curve")
    add_pr_curve_raw = partialmethod(_pass_on, "add_pr_curve_raw")
    add_scalars = partialmethod(_pass_on, "add_scalars")
    add_text = partialmethod(_pass_on, "add_text")
    add_video = partialmethod(_pass_on, "add_video")

    def add_graph(
        self,
        model: Module,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Record which functions one call of a model goes through, for the tab "Graphs".

        The model is called once, in evaluation mode. Each function that it calls is a node, inside
        the modules that call it, with the shapes of its results; one that a function of the library
        calls in turn is none.

        Args:
            model: The model.
            input_to_model: What it is called with: a tensor, or a tuple of its arguments. Default:
                nothing.
            verbose: Whether to print the nodes as well.
            use_strict_trace: Without effect: inputs and results may lie in lists and dicts.

        Raises:
            TypeError: If the model is no module.

        Example:
            >>> import tempfile
            >>> import tinytorch as tt
            >>> from tinytorch.utils.tensorboard import SummaryWriter
            >>> model = tt.nn.Sequential(tt.nn.Flatten(), tt.nn.Tanh())
            >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
            ...     writer.add_graph(model, tt.zeros(1, 2, 2), verbose=True)
            input/input: IO Node()
            Sequential/Flatten[0]/flatten: aten::flatten(input/input)
            Sequential/Tanh[1]/tanh: aten::tanh(Sequential/Flatten[0]/flatten)
            output/output.1: IO Node(Sequential/Tanh[1]/tanh)
        """
        given = () if input_to_model is None else input_to_model
        nodes = call_graph(model, given if isinstance(given, tuple) else (given,))
        for node in nodes if verbose else ():
            print(f"{node.name}: {node.op}({', '.join(node.inputs)})")  # noqa: T201  # asked for
        if isinstance(self._writer, _Plain):
            self._writer.add_graph_def(_graph_def(nodes, "tensorboard.compat.proto"))
        else:
            graph = _graph_def(nodes, "tensorboardX.proto")
            self._writer._get_file_writer().add_onnx_graph(graph)  # which writes any graph

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, Any] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Record hyperparameters and what came of them.

        Args:
            hparam_dict: Numbers, texts and truths by name.
            metric_dict: Numbers, or tensors of one element, by name.
            hparam_domain_discrete: Without effect: the values that a hyperparameter may have.
            run_name: Name of the run's directory below this one; default the time.
            global_step: The step of training.
        """
        chosen = {k: v.item() if isinstance(v, Tensor) else v for k, v in hparam_dict.items()}
        metrics = {name: _to_number(value) for name, value in metric_dict.items()}
        self._writer.add_hparams(chosen, metrics, name=run_name, global_step=global_step)

    def get_logdir(self) -> str:
        """The directory of the files."""
        return self.log_dir

    def flush(self) -> None:
        """Write what waits."""
        self._writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _graph_def(nodes: Iterable[CallNode], messages: str) -> Any:
    """Nodes as the message that TensorBoard reads, of the classes in a package."""
    attributes, graph, node_def, shapes, versions = (
        import_module(f"{messages}.{name}_pb2")
        for name in ("attr_value", "graph", "node_def", "tensor_shape", "versions")
    )

    def shape(sizes: tuple[int, ...]) -> Any:
        dim = shapes.TensorShapeProto.Dim
        return shapes.TensorShapeProto(dim=[dim(size=size) for size in sizes])

    def message(node: CallNode) -> Any:
        results = attributes.AttrValue.ListValue(shape=map(shape, node.shapes))
        said = {
            "attr": attributes.AttrValue(s=node.attributes.encode()),
            "_output_shapes": attributes.AttrValue(list=results),
        }
        return node_def.NodeDef(name=node.name, op=node.op, input=node.inputs, attr=said)

    version = versions.VersionDef(producer=22)  # the number that PyTorch writes
    return graph.GraphDef(node=map(message, nodes), versions=version)


def _default_directory(comment: str) -> str:
    import socket

    now = time.strftime("%b%d_%H-%M-%S")
    return os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")


class _Plain:
    """What ``tensorboard`` alone can be given: records of its own making."""

    def __init__(self, directory: str, **options: Any) -> None:
        self._directory, self._options = directory, options
        self._files: dict[str, Any] = {}
        self._file()

    def _file(self, run: str = "") -> Any:
        """The writer of a run, opened if it is not."""
        if run not in self._files:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter

            options = {**self._options, "max_queue_size": self._options["max_queue"]}
            del options["max_queue"]
            self._files[run] = EventFileWriter(os.path.join(self._directory, run), **options)
        return self._files[run]

    def _write(self, step: int | None, walltime: float | None, run: str = "", **value: Any) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2

        summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(**value)])
        when = time.time() if walltime is None else walltime
        event = event_pb2.Event(wall_time=when, step=step, summary=summary)
        self._file(run).add_event(event)

    def add_scalar(self, tag: str, value: float, step: Any = None, walltime: Any = None) -> None:
        self._write(step, walltime, tag=tag, simple_value=value)

    def add_scalars(
        self, main_tag: str, values: Any, global_step: Any = None, walltime: Any = None
    ) -> None:
        for name, value in values.items():
            run = f"{main_tag.replace('/', '_')}_{name}"
            self._write(global_step, walltime, run, tag=main_tag, simple_value=float(value))

    def add_graph_def(self, graph: Any) -> None:
        from tensorboard.compat.proto import event_pb2

        event = event_pb2.Event(wall_time=time.time(), graph_def=graph.SerializeToString())
        self._file().add_event(event)

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: Any = None
    ) -> None:
        from tensorboard.plugins.text.metadata import create_summary_metadata
        from tensorboard.util.tensor_util import make_tensor_proto

        metadata = create_summary_metadata(tag, "")
        tensor = make_tensor_proto([text_string.encode()])
        self._write(global_step, walltime, tag=tag, tensor=tensor, metadata=metadata)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = 30, walltime: Any = None
    ) -> None:
        import numpy as np  # noqa: TID251  # what values are given as
        from tensorboard.compat.proto import summary_pb2

        numbers = np.asarray(values, np.float64).reshape(-1)
        counts, edges = np.histogram(numbers, bins=30 if isinstance(bins, str) else bins)
        histo = summary_pb2.HistogramProto(
            min=numbers.min(), max=numbers.max(), num=numbers.size, sum=numbers.sum(),
            sum_squares=numbers @ numbers, bucket=counts.tolist(), bucket_limit=edges[1:].tolist(),
        )  # fmt: skip
        self._write(global_step, walltime, tag=tag, histo=histo)

    def flush(self) -> None:
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        while self._files:
            self._files.popitem()[1].close()

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(
            f"{name}() is not written through tensorboard alone: {how_to_install('tensorboardX')}"
        )
