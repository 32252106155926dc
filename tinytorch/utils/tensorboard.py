"""``torch.utils.tensorboard``: records of training for TensorBoard.

Files are written by ``tensorboardX``, or by ``tensorboard`` if that alone is installed, which
supports scalars, texts, histograms, hyperparameters and graphs alone. Importing this module without
either raises an ImportError.

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
from ..facade.packages import publish
from ..nn.module import Module
from . import tensorboard_summary as summary
from .graph_drawing import CallNode, call_graph
from .tensorboard_summary import messages, raise_missing, to_arrays, to_number

__all__ = ["FileWriter", "SummaryWriter"]

if find_spec("tensorboardX") is None and find_spec("tensorboard") is None:
    raise ImportError(
        f"writing files for TensorBoard needs tensorboardX: {how_to_install('tensorboardX')}"
    )


class SummaryWriter:
    """Writes records for TensorBoard into files of one directory.

    In addition to the methods below it has ``add_audio add_custom_scalars
    add_custom_scalars_marginchart add_custom_scalars_multilinechart add_embedding add_figure
    add_histogram add_histogram_raw add_image add_image_with_boxes add_images add_mesh add_pr_curve
    add_pr_curve_raw add_scalars add_text add_video``, with tensorboardX's arguments, in which
    tensors can replace arrays.

    Args:
        log_dir: The directory. Default: ``runs/`` with the time, the host name and ``comment``.
        comment: Suffix of the default directory's name.
        purge_step: Step from which TensorBoard hides the records of an earlier run.
        max_queue: Number of records that are queued before they are written.
        flush_secs: Longest time in seconds before queued records are written.
        filename_suffix: Suffix of the file's name.

    Example:
        >>> import os, tempfile
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
        self, log_dir: str | os.PathLike[str] | None = None, comment: str = "",
        purge_step: int | None = None, max_queue: int = 10, flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:  # fmt: skip
        directory = _default_directory(comment) if not log_dir else os.fspath(log_dir)
        options: Any = {
            "max_queue": max_queue, "flush_secs": flush_secs, "filename_suffix": filename_suffix,
        }  # fmt: skip
        self.log_dir = directory
        self.purge_step: int | None = purge_step
        self.max_queue: int = max_queue
        self.flush_secs: int = flush_secs
        self.filename_suffix = filename_suffix
        self._writer: Any
        if summary.writer_package() == "tensorboard":
            self._writer = _RecordWriter(directory, **options)
        else:
            self._writer = import_module("tensorboardX").SummaryWriter(
                directory, purge_step=purge_step, **options
            )

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None,
        walltime: float | None = None, new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """Record a number.

        Args:
            tag: Name of the record.
            scalar_value: A number, or a tensor of one element.
            global_step: The step of training.
            walltime: Seconds since 1970. Default: now.
            new_style: Accepted and ignored: the value is written as a ``simple_value``.
            double_precision: Accepted and ignored: the value is written as a float32.
        """
        self._writer.add_scalar(tag, to_number(scalar_value), global_step, walltime)

    def _call_tensorboardx(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Call tensorboardX's method of a name, with arrays instead of tensors."""
        getattr(self._writer, name)(*to_arrays(args), **to_arrays(kwargs))

    add_audio: partialmethod[None] = partialmethod(_call_tensorboardx, "add_audio")
    add_custom_scalars: partialmethod[None] = partialmethod(
        _call_tensorboardx, "add_custom_scalars"
    )
    add_custom_scalars_marginchart: partialmethod[None] = partialmethod(
        _call_tensorboardx, "add_custom_scalars_marginchart"
    )
    add_custom_scalars_multilinechart: partialmethod[None] = partialmethod(
        _call_tensorboardx, "add_custom_scalars_multilinechart"
    )
    add_embedding: partialmethod[None] = partialmethod(_call_tensorboardx, "add_embedding")
    add_figure: partialmethod[None] = partialmethod(_call_tensorboardx, "add_figure")
    add_histogram: partialmethod[None] = partialmethod(_call_tensorboardx, "add_histogram")
    add_histogram_raw: partialmethod[None] = partialmethod(_call_tensorboardx, "add_histogram_raw")
    add_image: partialmethod[None] = partialmethod(_call_tensorboardx, "add_image")
    add_image_with_boxes: partialmethod[None] = partialmethod(
        _call_tensorboardx, "add_image_with_boxes"
    )
    add_images: partialmethod[None] = partialmethod(_call_tensorboardx, "add_images")
    add_mesh: partialmethod[None] = partialmethod(_call_tensorboardx, "add_mesh")
    add_pr_curve: partialmethod[None] = partialmethod(_call_tensorboardx, "add_pr_curve")
    add_pr_curve_raw: partialmethod[None] = partialmethod(_call_tensorboardx, "add_pr_curve_raw")
    add_scalars: partialmethod[None] = partialmethod(_call_tensorboardx, "add_scalars")
    add_text: partialmethod[None] = partialmethod(_call_tensorboardx, "add_text")
    add_video: partialmethod[None] = partialmethod(_call_tensorboardx, "add_video")

    def add_graph(
        self, model: Module, input_to_model: Any = None, verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:  # fmt: skip
        """Record the graph of the function calls in a model, for the tab "Graphs".

        The model is called once, in evaluation mode. Each function that its modules call is a node,
        inside these modules, with the shapes of its results. Functions that the library calls in
        turn are not nodes.

        Args:
            model: The model.
            input_to_model: A tensor, or a tuple of the model's arguments. Default: no argument.
            verbose: Whether to print the nodes, too.
            use_strict_trace: Accepted and ignored: inputs and results may be in lists and dicts.

        Raises:
            TypeError: If the model is not a Module.

        Example:
            >>> import tempfile
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
            print(f"{node.name}: {node.op}({', '.join(node.inputs)})")  # noqa: T201
        self._get_file_writer().add_onnx_graph(_graph_def(nodes))  # writes any graph

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, Any] | None = None, run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:  # fmt: skip
        """Record hyperparameters and the metrics of a run.

        Args:
            hparam_dict: Numbers, strings and booleans by name.
            metric_dict: Numbers, or tensors of one element, by name.
            hparam_domain_discrete: The values that a hyperparameter may have; ignored with
                tensorboardX.
            run_name: Name of the run's directory below this one. Default: the time.
            global_step: The step of training.
        """
        chosen = {k: v.item() if isinstance(v, Tensor) else v for k, v in hparam_dict.items()}
        metrics = {name: to_number(value) for name, value in metric_dict.items()}
        given: dict[str, Any] = {"name": run_name, "global_step": global_step}
        if summary.writer_package() == "tensorboard":
            given["domains"] = hparam_domain_discrete
        self._writer.add_hparams(chosen, metrics, **given)

    def _get_file_writer(self) -> Any:
        """The writer of the file, to which Lightning adds summaries."""
        return self._writer._get_file_writer()

    file_writer = property(_get_file_writer)

    def get_logdir(self) -> str:
        """The directory of the files."""
        return self.log_dir

    def flush(self) -> None:
        """Write the queued records."""
        self._writer.flush()

    def close(self) -> None:
        """Write the queued records, and close the files."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _graph_def(nodes: Iterable[CallNode], package: str | None = None) -> Any:
    """TensorBoard's ``GraphDef`` message for the graph of calls.

    Args:
        nodes: Nodes of the graph.
        package: Package that has the classes of messages; see ``messages``.
    """
    attributes, graph, node_def, shapes, versions = (
        messages(name, package)
        for name in ("attr_value", "graph", "node_def", "tensor_shape", "versions")
    )

    def shape_message(sizes: tuple[int, ...]) -> Any:
        dim = shapes.TensorShapeProto.Dim
        return shapes.TensorShapeProto(dim=[dim(size=size) for size in sizes])

    def node_message(node: CallNode) -> Any:
        results = attributes.AttrValue.ListValue(shape=map(shape_message, node.shapes))
        attr = {
            "attr": attributes.AttrValue(s=node.attributes.encode()),
            "_output_shapes": attributes.AttrValue(list=results),
        }
        return node_def.NodeDef(name=node.name, op=node.op, input=node.inputs, attr=attr)

    version = versions.VersionDef(producer=22)  # the number that PyTorch writes
    return graph.GraphDef(node=map(node_message, nodes), versions=version)


def _default_directory(comment: str) -> str:
    """Default directory of the files: ``runs/`` with the time, the host name and a comment."""
    import socket

    now = time.strftime("%b%d_%H-%M-%S")
    return os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")


class FileWriter:
    """Writes events into one file for TensorBoard.

    Args:
        log_dir: The directory.
        max_queue: Number of events that are queued before they are written.
        flush_secs: Longest time in seconds before queued events are written.
        filename_suffix: Suffix of the file's name.

    Example:
        >>> import os, tempfile
        >>> from tinytorch.utils.tensorboard import FileWriter, summary
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = FileWriter(folder)
        ...     writer.add_summary(summary.scalar("loss", 0.5), global_step=1)
        ...     writer.add_event(summary.messages("event").Event(), step=2)
        ...     writer.add_graph((summary.messages("graph").GraphDef(), None))
        ...     writer.flush()
        ...     writer.close()
        ...     writer.reopen()
        ...     writer.add_onnx_graph(summary.messages("graph").GraphDef())
        ...     writer.close()
        ...     os.listdir(writer.get_logdir())[0].startswith("events.out.tfevents")
        True
    """

    def __init__(
        self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:  # fmt: skip
        self._options = (os.fspath(log_dir), max_queue, flush_secs, filename_suffix)
        self.reopen()

    def reopen(self) -> None:
        """Open a new file."""
        module = {"tensorboard": "tensorboard.summary.writer.event_file_writer"}.get(
            summary.writer_package(), "tensorboardX.event_file_writer"
        )
        self.event_writer: Any = import_module(module).EventFileWriter(*self._options)

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self._options[0]

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event.

        Args:
            event: The message.
            step: The step of training.
            walltime: Seconds since 1970. Default: now.
        """
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(
        self, summary: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a message of a function of ``utils.tensorboard.summary``.

        Args:
            summary: The message.
            global_step: The step of training.
            walltime: Seconds since 1970. Default: now.
        """
        self.add_event(messages("event").Event(summary=summary), global_step, walltime)

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Write a graph.

        Args:
            graph: The message.
            walltime: Seconds since 1970. Default: now.
        """
        event = messages("event").Event(graph_def=graph.SerializeToString())
        self.add_event(event, None, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Write the graph of a pair of a graph and its profile; the profile is ignored.

        Args:
            graph_profile: The pair.
            walltime: Seconds since 1970. Default: now.
        """
        self.add_onnx_graph(graph_profile[0], walltime)

    def flush(self) -> None:
        """Write the queued events."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write the queued events, and close the file."""
        self.event_writer.close()


class _RecordWriter:
    """Writer of the records that the package ``tensorboard`` supports without tensorboardX.

    The methods correspond to those of ``SummaryWriter``, with converted arguments.
    """

    def __init__(self, directory: str, **options: Any) -> None:
        self._directory, self._options = directory, options
        self._files: dict[str, FileWriter] = {}
        self._get_file_writer()

    def _get_file_writer(self, run: str = "") -> FileWriter:
        """Writer of the file of a run, opened by the first call; ``""`` is the main run."""
        if run not in self._files:
            self._files[run] = FileWriter(os.path.join(self._directory, run), **self._options)
        return self._files[run]

    def add_scalar(self, tag: str, value: float, step: Any = None, walltime: Any = None) -> None:
        self._get_file_writer().add_summary(summary.scalar(tag, value), step, walltime)

    def add_scalars(
        self, main_tag: str, values: Any, global_step: Any = None, walltime: Any = None
    ) -> None:
        for name, value in values.items():
            writer = self._get_file_writer(f"{main_tag.replace('/', '_')}_{name}")
            writer.add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: Any = None
    ) -> None:
        self._get_file_writer().add_summary(summary.text(tag, text_string), global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = 30, walltime: Any = None
    ) -> None:
        message = summary.histogram(tag, values, 30 if bins == "tensorflow" else bins)
        self._get_file_writer().add_summary(message, global_step, walltime)

    def add_hparams(
        self, hparams: Any, metrics: Any, name: str | None, global_step: Any, domains: Any = None
    ) -> None:
        writer = self._get_file_writer(str(time.time()) if name is None else name)
        for message in summary.hparams(hparams, metrics, domains):
            writer.add_summary(message)
        for tag, value in metrics.items():
            writer.add_summary(summary.scalar(tag, value), global_step)

    def flush(self) -> None:
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        while self._files:
            self._files.popitem()[1].close()

    def __getattr__(self, name: str) -> Any:
        raise_missing(name)


publish(__name__, "writer")
