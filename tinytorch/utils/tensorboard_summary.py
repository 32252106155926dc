"""``torch.utils.tensorboard.summary``: protobuf messages for TensorBoard.

Their classes are those of the installed package: tensorboardX, or tensorboard if that alone is
installed. Images, sounds and charts need tensorboardX.

Reference: https://github.com/tensorflow/tensorboard/tree/master/tensorboard/compat/proto
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

from ..backends.errors import how_to_install
from ..core.tensor import Tensor

__all__ = [
    "audio", "custom_scalars", "histogram", "histogram_raw", "hparams", "image", "image_boxes",
    "mesh", "pr_curve", "pr_curve_raw", "scalar", "text", "video",
]  # fmt: skip

#: Modules of the messages of the plug-in for hyperparameters, by package.
_HPARAMS = {
    "tensorboardX": ("tensorboardX.proto.api_pb2", "tensorboardX.proto.plugin_hparams_pb2"),
    "tensorboard": (
        "tensorboard.plugins.hparams.api_pb2", "tensorboard.plugins.hparams.plugin_data_pb2"
    ),
}  # fmt: skip


def writer_package() -> str:
    """Name of the package that writes the files."""
    return "tensorboard" if find_spec("tensorboardX") is None else "tensorboardX"


def messages(name: str, package: str | None = None) -> Any:
    """Module of messages, for example ``"summary"``, ``"event"`` or ``"graph"``.

    Args:
        name: Name of the module, without ``_pb2``.
        package: ``"tensorboard"`` or ``"tensorboardX"``. Default: the one that writes the files.
    """
    package = package or writer_package()
    folder = {"tensorboard": "tensorboard.compat.proto"}.get(package, f"{package}.proto")
    return import_module(f"{folder}.{name}_pb2")


def to_arrays(value: Any) -> Any:
    """Convert tensors to NumPy arrays, also in dicts, lists and tuples."""
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, dict):
        return {key: to_arrays(part) for key, part in value.items()}
    return type(value)(map(to_arrays, value)) if type(value) in (list, tuple) else value


def to_number(value: Any) -> float:
    """Convert a number, or a tensor of one element, to a float."""
    return float(value.detach() if isinstance(value, Tensor) else value)


def scalar(
    name: str, tensor: Any, collections: Any = None, new_style: bool = False,
    double_precision: bool = False,
) -> Any:  # fmt: skip
    """Message of a number.

    Args:
        name: Its name.
        tensor: A number, or a tensor of one element.
        collections: Ignored, as in PyTorch.
        new_style: Whether the number is written as a tensor. Default: False.
        double_precision: Whether that tensor is float64. Default: False.

    Example:
        >>> from tinytorch.utils.tensorboard.summary import scalar
        >>> scalar("loss", tt.tensor(0.5)).value[0].simple_value
        0.5
    """
    number = to_number(tensor)
    if not new_style:
        return _summary(tag=name, simple_value=number)
    kind = messages("tensor").TensorProto
    value = (
        kind(double_val=[number], dtype="DT_DOUBLE")
        if double_precision
        else kind(float_val=[number], dtype="DT_FLOAT")
    )
    return _summary(tag=name, tensor=value, metadata=_metadata("scalars"))


def text(tag: str, text: str) -> Any:
    """Message of a text, which can be Markdown.

    Args:
        tag: Its name.
        text: The text.

    Example:
        >>> from tinytorch.utils.tensorboard.summary import text
        >>> text("note", "words").value[0].tag
        'note/text_summary'
    """
    tensors, shapes = messages("tensor"), messages("tensor_shape")
    value = tensors.TensorProto(
        dtype="DT_STRING", string_val=[text.encode()],
        tensor_shape=shapes.TensorShapeProto(dim=[shapes.TensorShapeProto.Dim(size=1)]),
    )  # fmt: skip
    return _summary(tag=f"{tag}/text_summary", tensor=value, metadata=_metadata("text"))


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """Message of a histogram of values.

    Args:
        name: Its name.
        values: The values.
        bins: Edges of the bins, their number, or a method of ``numpy.histogram``.
        max_bins: Largest number of bins. Default: no limit.

    Raises:
        ValueError: If there are no values.

    Example:
        >>> from tinytorch.utils.tensorboard.summary import histogram
        >>> list(histogram("weights", tt.arange(4.0), 2).value[0].histo.bucket)
        [2.0, 2.0]
    """
    import numpy as np  # noqa: TID251  # the type of the values here

    numbers = np.asarray(to_arrays(values), np.float64).reshape(-1)
    if numbers.size == 0:
        raise ValueError("The input has no element.")
    counts, edges = np.histogram(numbers, bins)
    if max_bins is not None and len(counts) > max_bins:
        starts = np.arange(0, len(counts), -(-len(counts) // max_bins))
        counts, edges = np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])
    return histogram_raw(
        name, numbers.min(), numbers.max(), numbers.size, numbers.sum(), numbers @ numbers,
        edges[1:].tolist(), counts.tolist(),
    )  # fmt: skip


def histogram_raw(
    name: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any,
    bucket_counts: Any,
) -> Any:  # fmt: skip
    """Message of a histogram from its counts.

    Args:
        name: Its name.
        min: Smallest value.
        max: Largest value.
        num: Number of values.
        sum: Their sum.
        sum_squares: The sum of their squares.
        bucket_limits: Upper edge of each bin.
        bucket_counts: Number of values in each bin.

    Example:
        >>> from tinytorch.utils.tensorboard.summary import histogram_raw
        >>> histogram_raw("weights", 0, 2, 3, 4, 5, [1, 2], [1, 2]).value[0].histo.num
        3.0
    """
    histo = messages("summary").HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
        bucket_limit=bucket_limits, bucket=bucket_counts,
    )  # fmt: skip
    return _summary(tag=name, histo=histo)


def hparams(
    hparam_dict: dict[str, Any],
    metric_dict: dict[str, Any],
    hparam_domain_discrete: dict[str, list[Any]] | None = None,
) -> tuple[Any, Any, Any]:
    """Messages of hyperparameters: the experiment, the start and the end of a session.

    Args:
        hparam_dict: Numbers, strings and booleans by name; those that are None are left out.
        metric_dict: Metrics by name; their values are written by other records.
        hparam_domain_discrete: The values that a hyperparameter may have, by name.

    Raises:
        TypeError: If an argument is not a dict, or a domain does not have the hyperparameter's
            type.
        ValueError: If a hyperparameter has another type.

    Example:
        >>> from tinytorch.utils.tensorboard.summary import hparams
        >>> [message.value[0].tag for message in hparams({"lr": 0.1}, {"score": 0.9})][1:]
        ['_hparams_/session_start_info', '_hparams_/session_end_info']
    """
    domains = hparam_domain_discrete or {}
    _check_hparams(hparam_dict, metric_dict, domains)
    api, plugin = map(import_module, _HPARAMS[writer_package()])
    start, infos = plugin.SessionStartInfo(), []
    for name, given in hparam_dict.items():
        if given is None:
            continue
        field, kind, value = _read_hparam(given)
        setattr(start.hparams[name], field, value)
        info = api.HParamInfo(name=name, type=api.DataType.Value(kind))
        for each in domains.get(name, ()):
            setattr(info.domain_discrete.values.add(), field, each)
        infos.append(info)
    metrics = [api.MetricInfo(name=api.MetricName(tag=name)) for name in metric_dict]
    end = plugin.SessionEndInfo(status=api.Status.Value("STATUS_SUCCESS"))

    def message(name: str, content: Any) -> Any:
        data = plugin.HParamsPluginData(version=0, **{name: content}).SerializeToString()
        return _summary(tag=f"_hparams_/{name}", metadata=_metadata("hparams", data))

    return (
        message("experiment", api.Experiment(hparam_infos=infos, metric_infos=metrics)),
        message("session_start_info", start),
        message("session_end_info", end),
    )


def _check_hparams(hparam_dict: Any, metric_dict: Any, domains: Any) -> None:
    """Raise a TypeError if an argument of ``hparams`` has the wrong type."""
    given = {
        "hparam_dict": hparam_dict, "metric_dict": metric_dict, "hparam_domain_discrete": domains,
    }  # fmt: skip
    for name, value in given.items():
        if not isinstance(value, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for name, values in domains.items():
        kind = type(hparam_dict.get(name))
        if not isinstance(values, list) or not all(isinstance(each, kind) for each in values):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                f"hparam_dict[{name}]."
            )


def _read_hparam(value: Any) -> tuple[str, str, Any]:
    """Description of a hyperparameter's value.

    Returns:
        The field of the message that holds the value, the name of its data type, and the value.
    """
    value = value.item() if isinstance(value, Tensor) else value
    if isinstance(value, (int, float)):  # booleans, too, as PyTorch writes them
        return "number_value", "DATA_TYPE_FLOAT64", value
    if isinstance(value, str):
        return "string_value", "DATA_TYPE_STRING", value
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def _summary(**value: Any) -> Any:
    """``Summary`` message with one value; the keyword arguments are the fields of the value."""
    kind = messages("summary").Summary
    return kind(value=[kind.Value(**value)])


def _metadata(plugin: str, content: bytes = b"") -> Any:
    """``SummaryMetadata`` message for a plugin of TensorBoard, with the plugin's own data."""
    kind = messages("summary").SummaryMetadata
    return kind(plugin_data=kind.PluginData(plugin_name=plugin, content=content))


def raise_missing(name: str) -> NoReturn:
    """Raise for a record that the package ``tensorboard`` alone does not support."""
    raise NotImplementedError(
        f"{name}() is not written through tensorboard alone: {how_to_install('tensorboardX')}"
    )


def _make(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of ``tensorboardX.summary``, with arrays instead of tensors."""
    if writer_package() == "tensorboard":
        raise_missing(name)
    make = getattr(import_module("tensorboardX.summary"), name)
    return make(*to_arrays(args), **to_arrays(kwargs))


audio: partial[Any] = partial(_make, "audio")
custom_scalars: partial[Any] = partial(_make, "custom_scalars")
image: partial[Any] = partial(_make, "image")
image_boxes: partial[Any] = partial(_make, "image_boxes")
mesh: partial[Any] = partial(_make, "mesh")
pr_curve: partial[Any] = partial(_make, "pr_curve")
pr_curve_raw: partial[Any] = partial(_make, "pr_curve_raw")
video: partial[Any] = partial(_make, "video")
