"""Loaded ONNX files: names, training, control flow, and files that are refused."""

from __future__ import annotations

import copy
import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import tinytorch as tt
from tests import hostile

onnx = pytest.importorskip("onnx", reason="the extra [onnx] is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT = TensorProto.FLOAT


def value(name: str, kind: int = FLOAT, shape: Any = None) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes: Any, inputs: str, outputs: str, tensors: Any = None, version: int = 17) -> Any:
    graph = helper.make_graph(
        nodes, "graph", [value(n) for n in inputs.split()], [value(n) for n in outputs.split()],
        [numpy_helper.from_array(numpy.asarray(v), k) for k, v in (tensors or {}).items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])


def loaded(proto: Any) -> Any:
    return tt.onnx.load(proto.SerializeToString())


def linear() -> Any:
    weight = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    node = helper.make_node("Gemm", ["x", "net.0.weight", "net.0.bias"], ["y"], transB=1)
    return model([node], "x", "y", {"net.0.weight": weight, "net.0.bias": numpy.ones(2, "f4")})


def test_initializers_are_parameters_that_train(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(linear().SerializeToString())
    for source in (tmp_path / "model.onnx", str(tmp_path / "model.onnx"),
                   io.BytesIO(linear().SerializeToString())):  # fmt: skip
        module = tt.onnx.load(source)
        assert [name for name, _ in module.named_parameters()] == ["net.0.weight", "net.0.bias"]
    x = tt.ones(1, 3)
    module(x).sum().backward()
    assert module.net.get_submodule("0").weight.grad.tolist() == [[1, 1, 1]] * 2
    tt.optim.SGD(module.parameters(), 0.5).step()
    assert module(x=x).tolist() == [[2.0, 11.0]]
    assert (module.input_names, module.output_names) == (["x"], ["y"])
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert other(x).tolist() == [[2.0, 11.0]]
        other.load_state_dict({name: v * 0 for name, v in other.state_dict().items()})
        assert other(x).tolist() == [[0.0, 0.0]] and module(x).tolist() == [[2.0, 11.0]]


def test_statistics_numbers_and_constants_are_buffers() -> None:
    ones = numpy.ones(2, "f4")
    nodes = [
        helper.make_node("BatchNormalization", ["x", "s", "b", "mean", "var"], ["n"]),
        helper.make_node("Constant", [], ["two"], value_float=2.0),
        helper.make_node("Mul", ["n", "two"], ["m"]),
        helper.make_node("Mul", ["m", "scale"], ["y"]),
    ]
    names = {"s": ones, "b": ones, "mean": ones, "var": ones, "scale": numpy.float32(3)}
    module = loaded(model(nodes, "x", "y", names))
    assert [name for name, _ in module.named_parameters()] == ["s", "b"]
    assert list(module.state_dict()) == ["s", "b", "mean", "var", "scale"]
    assert module(tt.ones(1, 2)).tolist() == [[6.0, 6.0]]
    assert module.double()(tt.ones(1, 2).double()).dtype is tt.float64


def test_names_that_python_or_modules_have_are_changed() -> None:
    names = ["forward", "a", "a.b", "x/y::z", "double", "train.ing"]
    nodes = [helper.make_node("Sum", ["x", *names], ["y"])]
    module = loaded(model(nodes, "x", "y", {n: numpy.ones(1, "f4") for n in names}))
    assert module(tt.zeros(1)).tolist() == [6.0]
    assert list(module.state_dict()) == ["forward_", "a", "x_y__z", "double_", "a_.b", "train_.ing"]


def test_calls_with_other_inputs_raise() -> None:
    module = loaded(linear())
    for args, kwargs in (((), {}), ((1, 2), {}), ((), {"z": 1}), ((1,), {"x": 1})):
        with pytest.raises(TypeError, match="expected the inputs x"):
            module(*args, **kwargs)


def test_errors_name_the_node() -> None:
    module = loaded(model([helper.make_node("Add", ["x", "x2"], ["y"], name="sum")], "x x2", "y"))
    with pytest.raises(RuntimeError) as caught:
        module(tt.ones(2), tt.ones(3))
    assert caught.value.__notes__ == ["in node 'sum' (Add)"]


def test_branches_and_loops_run_and_have_gradients() -> None:
    """``y`` is ``x * 3`` in the loop; the branch reads values around it."""
    then = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["t"])], "then", [], [value("t")])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["e"])], "else", [], [value("e")])
    body = helper.make_graph(
        [
            helper.make_node("Add", ["state", "x"], ["next"]),
            helper.make_node("Identity", ["going"], ["goes"]),
            helper.make_node("Identity", ["state"], ["seen"]),
        ],
        "body", [value("i", TensorProto.INT64, []), value("going", TensorProto.BOOL, []),
                 value("state")],
        [value("goes", TensorProto.BOOL, []), value("next"), value("seen")],
    )  # fmt: skip
    nodes = [
        helper.make_node("If", ["flag"], ["chosen"], then_branch=then, else_branch=other),
        helper.make_node("Loop", ["count", "", "chosen"], ["y", "all"], body=body),
    ]
    tensors = {"w": numpy.full(1, 5, "f4"), "count": numpy.int64(2)}
    module = loaded(model(nodes, "x flag", "y all", tensors))
    x = tt.ones(1, requires_grad=True)
    y, states = module(x, tt.tensor(True))
    assert y.tolist() == [7.0] and states.tolist() == [[5.0], [6.0]]
    y.sum().backward()
    assert x.grad.tolist() == [7.0] and module.w.grad.tolist() == [1.0]
    assert module(x, tt.tensor(False))[0].tolist() == [1.0]


def test_local_functions_are_inlined() -> None:
    proto = model([helper.make_node("Twice", ["x"], ["y"], domain="mine")], "x", "y")
    proto.opset_import.append(helper.make_opsetid("mine", 1))
    proto.functions.append(
        helper.make_function(
            "mine", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
            [helper.make_opsetid("", 17)],
        )
    )  # fmt: skip
    assert loaded(proto)(tt.ones(1)).tolist() == [2.0]


# -- files that are refused ------------------------------------------------------------------


def tensor(**fields: Any) -> Any:
    made = TensorProto(name="w", data_type=FLOAT, dims=[2], raw_data=b"\0" * 8)
    for name, new in fields.items():
        made.ClearField(name)
        if name.endswith("_data") and name != "raw_data":
            made.ClearField("raw_data")
        getattr(made, name).extend(new) if isinstance(new, list) else setattr(made, name, new)
    return made


def with_tensor(made: Any) -> Any:
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], "x", "y")
    proto.graph.initializer.append(made)
    return proto


def add(*outputs: str) -> Any:
    return helper.make_node("Add", ["x", "x"], [*outputs], name="n")


MALFORMED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "text": ("is no ONNX model", lambda: b"\xff no model"),
    "empty": ("has no graph", lambda: b""),
    "no version": ("does not say the version", lambda: _without_version()),
    "few bytes": ("expected 8 bytes for its sizes, got 7", lambda: _bytes(raw_data=b"\0" * 7)),
    "large": ("has the sizes", lambda: _bytes(dims=[1 << 40, 1 << 40])),
    "negative": ("has the sizes", lambda: _bytes(dims=[-2])),
    "undefined": ("is not defined before", lambda: model([add("y")], "z", "y").SerializeToString()),
    "later": (
        "is not defined before",
        lambda: model(
            [helper.make_node("Neg", ["y"], ["z"]), add("y")], "x", "z"
        ).SerializeToString(),
    ),
    "twice": (
        "is defined twice",
        lambda: model([add("y"), add("y")], "x", "y").SerializeToString(),
    ),
    "no output": ("output 'z' of graph", lambda: model([add("y")], "x", "z").SerializeToString()),
    "two inputs": (
        "two inputs of one name",
        lambda: model([add("y")], "x x", "y").SerializeToString(),
    ),
    "bytes only": ("load the model by its path", lambda: _bytes(data_location=1)),
    "truncated": ("is no ONNX model", lambda: linear().SerializeToString()[:-9]),
    "no elements": ("cannot reshape", lambda: _bytes(dims=[1 << 36], float_data=[1.0])),
    "zero of many": ("is malformed", lambda: _bytes(dims=[0, 1 << 62], raw_data=b"")),
    "many dimensions": ("dimension", lambda: _bytes(dims=[1] * 5000 + [2])),
    "field of another type": (
        "cannot reshape", lambda: _bytes(data_type=TensorProto.INT64, float_data=[1.0, 2.0])),
    "number for int8": ("not from -128 to 127", lambda: _bytes(
        data_type=TensorProto.INT8, dims=[1], int32_data=[1000])),
    "number for float16": ("not from 0 to 65535", lambda: _bytes(
        data_type=TensorProto.FLOAT16, dims=[1], int32_data=[1 << 20])),
    "number for bool": ("not from 0 to 1", lambda: _bytes(
        data_type=TensorProto.BOOL, dims=[1], int32_data=[5])),
    "name in no UTF-8": (
        "is not in UTF-8", lambda: linear().SerializeToString().replace(b"weight", b"w\xffight")),
    "constant of no output": ("expected one attribute and output", lambda: model([
        helper.make_node("Constant", [], [], value_int=1), add("y")], "x", "y"
    ).SerializeToString()),
    "constant of another type": ("is malformed", lambda: _mistyped()),
    "attribute twice": ("two attributes of one name", lambda: _twice()),
    "function that calls itself": ("'f0' calls itself", lambda: functions(1, loops=True)),
    "functions of many nodes": ("more than 1000000 nodes", lambda: functions(40)),
    "functions in functions": ("too deep", lambda: functions(4000, calls=1)),
}  # fmt: skip


def functions(depth: int, calls: int = 2, loops: bool = False) -> bytes:
    """A file of functions that each call the next one, and so on."""
    made = []
    for i in range(depth):
        inner = [helper.make_node(f"f{0 if loops else i + 1}", ["a"], [f"b{n}"], domain="d")
                 for n in range(calls)]  # fmt: skip
        body = inner if loops or i + 1 < depth else [helper.make_node("Neg", ["a"], ["b0"])]
        versions = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]
        made.append(helper.make_function("d", f"f{i}", ["a"], ["b0"], body, versions))
    proto = model([helper.make_node("f0", ["x"], ["y"], domain="d")], "x", "y")
    proto.functions.extend(made)
    proto.opset_import.append(helper.make_opsetid("d", 1))
    return proto.SerializeToString()  # type: ignore[no-any-return]


def _mistyped() -> bytes:
    proto = model([helper.make_node("Constant", [], ["y"], value_float=1.0)], "x", "y")
    attribute = proto.graph.node[0].attribute[0]
    attribute.type, attribute.s = onnx.AttributeProto.STRING, b"text"
    return proto.SerializeToString()  # type: ignore[no-any-return]


def _twice() -> bytes:
    proto = model([helper.make_node("Elu", ["x"], ["y"], alpha=1.0)], "x", "y")
    proto.graph.node[0].attribute.append(proto.graph.node[0].attribute[0])
    return proto.SerializeToString()  # type: ignore[no-any-return]


def _bytes(**fields: Any) -> bytes:
    return with_tensor(tensor(**fields)).SerializeToString()  # type: ignore[no-any-return]


def _without_version() -> bytes:
    proto = linear()
    del proto.opset_import[:]
    return proto.SerializeToString()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_raise_soon_and_without_much_memory(name: str) -> None:
    message, make = MALFORMED[name]
    content = make()
    with hostile.limits(), pytest.raises(ValueError, match=message):
        tt.onnx.load(content)  # expanded, the functions take minutes and gigabytes


def test_names_of_many_parts_and_names_that_look_alike_are_loaded() -> None:
    """Module paths are not nested without a limit, and each name gets an attribute of its own."""
    signs = [helper.make_tensor(f"w{chr(0x2000 + i)}", FLOAT, [1], [float(i)]) for i in range(300)]
    deep = helper.make_tensor(".".join("a" * 3000), FLOAT, [1], [5.0])
    proto = model([helper.make_node("Add", ["x", deep.name], ["y"])], "x", "y")
    proto.graph.initializer.extend([*signs, deep])
    loaded = tt.onnx.load(proto.SerializeToString())
    assert loaded(tt.zeros(1)).tolist() == [5]
    assert sorted(p.item() for p in loaded.parameters()) == sorted([*map(float, range(300)), 5.0])


def test_a_node_with_more_outputs_than_its_operator_raises() -> None:
    proto = model([helper.make_node("Neg", ["x"], ["y", "z"])], "x", "z")
    with pytest.raises(ValueError, match="expected at most 1 outputs of Neg, the node has 2"):
        tt.onnx.load(proto.SerializeToString())(tt.ones(1))


def test_two_initializers_of_one_name_raise() -> None:
    proto = with_tensor(tensor())
    proto.graph.initializer.append(tensor())
    with pytest.raises(ValueError, match="two initializers 'w'"):
        loaded(proto)


UNSUPPORTED: dict[str, tuple[str, Callable[[], Any]]] = {
    "operator": ("operator Nope of node 'n'", lambda: model(
        [helper.make_node("Nope", ["x"], ["y"], name="n")], "x", "y")),
    "domain": ("operator com.microsoft.Gelu of node 'y'", lambda: model(
        [helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")], "x", "y")),
    "opset 12": ("expected a file of opset 13 to 28, got 12", lambda: model(
        [add("y")], "x", "y", version=12)),
    "dtype": ("data type 8", lambda: with_tensor(
        helper.make_tensor("w", TensorProto.STRING, [1], [b"a"]))),
    "constant": ("Constant with value_string", lambda: model(
        [helper.make_node("Constant", [], ["y"], value_string="a")], "x", "y")),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_files_raise_by_name(name: str) -> None:
    message, make = UNSUPPORTED[name]
    with pytest.raises(NotImplementedError, match=message):
        loaded(make())


# -- external data ---------------------------------------------------------------------------


def write_external(folder: Path, location: str, **entries: str) -> Path:
    made = TensorProto(name="w", data_type=FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **entries}.items():
        made.external_data.add(key=key, value=text)
    path = folder / "model.onnx"
    path.write_bytes(with_tensor(made).SerializeToString())
    return path


def test_external_data_is_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(b"\0" * 4 + numpy.float32([1, 2]).tobytes())
    path = write_external(tmp_path, "data/w.bin", offset="4", length="8")
    assert tt.onnx.load(path)(tt.zeros(2)).tolist() == [1, 2]


@pytest.mark.parametrize("location", ["../w.bin", "a/../../w.bin", "{tmp}/w.bin", "", "..", "link",
                                      "inner/w.bin", "a\\..\\..\\w.bin"])  # fmt: skip
def test_external_data_outside_the_folder_is_not_read(tmp_path: Path, location: str) -> None:
    folder, outside = tmp_path / "model", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    for place in (tmp_path, outside):
        (place / "w.bin").write_bytes(b"\0" * 8)
    os.symlink(tmp_path / "w.bin", folder / "link")
    os.symlink(outside, folder / "inner")
    path = write_external(folder, location.format(tmp=tmp_path))
    with pytest.raises(ValueError, match="expected external data in a file of the model's folder"):
        tt.onnx.load(path)


def test_external_data_of_other_sizes_raises(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"\0" * 8)
    for entries, message in (
        ({"offset": "4"}, "ends after 12 bytes of a file of 8"),
        ({"length": "4"}, "expected 8 bytes for its sizes, got 4"),
        ({"offset": "-1"}, "expected a number as offset"),
        ({"length": "8x"}, "expected a number as length"),
    ):
        with pytest.raises(ValueError, match=message):
            tt.onnx.load(write_external(tmp_path, "w.bin", **entries))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is no regular file"):
        tt.onnx.load(write_external(tmp_path, "pipe"))
    with pytest.raises(FileNotFoundError):
        tt.onnx.load(write_external(tmp_path, "absent"))


def test_random_bytes_in_a_file_never_crash() -> None:
    """They raise one of the documented errors, or change values only."""
    data, generator = linear().SerializeToString(), numpy.random.default_rng(0)
    outcomes = set()
    for _ in range(300):
        changed = bytearray(data)
        for place in generator.integers(0, len(data), 3):
            changed[place] = generator.integers(256)
        try:
            tt.onnx.load(bytes(changed))
            outcomes.add("loaded")
        except (ValueError, NotImplementedError) as error:
            outcomes.add(type(error).__name__)
    assert outcomes == {"loaded", "ValueError", "NotImplementedError"}
