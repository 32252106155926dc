"""The memory behind tensors: what scripts ask of it, as PyTorch answers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.oracles import libraries

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")

#: A tensor by the function that makes it, whose storage is asked for.
TENSORS: dict[str, Any] = {
    "a whole": lambda t: t.arange(6.0).reshape(2, 3),
    "a row": lambda t: t.arange(6.0).reshape(2, 3)[1],
    "a column": lambda t: t.arange(6.0).reshape(2, 3)[:, 1],
    "turned": lambda t: t.arange(6).reshape(2, 3).t(),
    "expanded": lambda t: t.arange(3).expand(4, 3),
    "0-d": lambda t: t.tensor(2.5),
    "booleans": lambda t: t.tensor([True, False]),
    "bytes": lambda t: t.tensor([1, 2, 3], dtype=t.uint8)[1:],
    "a leaf": lambda t: t.ones(2, requires_grad=True),
    "detached": lambda t: t.arange(4.0).detach()[2:],
}
QUESTIONS: dict[str, Any] = {
    "size": lambda s: s.size(),
    "nbytes": lambda s: s.nbytes(),
    "element_size": lambda s: s.element_size(),
    "len": len,
    "tolist": lambda s: s.tolist(),
    "elements": list,
    "first": lambda s: s[0],
    "last": lambda s: s[-1],
    "device": lambda s: str(s.device),
    "is_cuda": lambda s: s.is_cuda,
    "is_shared": lambda s: s.is_shared(),
    "repr": lambda s: repr(s).replace("tinytorch", "torch"),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("case", TENSORS)
def test_properties_of_storages_are_pytorchs(torch: Any, case: str, question: str) -> None:
    if tt.ones(1).is_cuda:
        pytest.skip("PyTorch's tensors are on the CPU")
    ask = QUESTIONS[question]
    for method in ("untyped_storage", "storage"):
        ours, theirs = (getattr(TENSORS[case](t), method)() for t in (tt, torch))
        assert ask(ours) == ask(theirs)


def test_shared_memory_is_recognised() -> None:
    x = tt.arange(6.0).reshape(2, 3)
    for view in (x[1], x.t(), x.view(6), x.detach(), x.data, x.expand(4, 2, 3)):
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        assert view.untyped_storage() == x.untyped_storage()
        assert view.storage().data_ptr() == x.storage().data_ptr()
    for copy in (x.clone(), x + 0, x.t().contiguous()):
        assert copy.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    assert x.storage().untyped() == x.untyped_storage()


def test_offsets_lead_to_the_elements() -> None:
    x = tt.arange(6).reshape(2, 3)[1:, 1:]
    assert x.storage()[x.storage_offset()] == int(x[0, 0])


@pytest.mark.parametrize("index", [0, 2, -1, -4, 4, -5, True])
def test_indexing_a_storage_returns_pytorchs_element(torch: Any, index: Any) -> None:
    found = []
    for library in (tt, torch):
        x = library.tensor([0.5, 1.5, 2.5, 3.5])
        try:
            found.append(x.storage()[index])
        except (IndexError, TypeError) as error:
            found.append(type(error))
    assert found[0] == found[1]


def test_writing_to_a_storage_changes_its_tensor() -> None:
    x = tt.zeros(2, 3)
    x[1].storage()[0] = 5.0
    assert x[0, 0] == 5
    copy = x.storage().clone()
    x.storage().fill_(7.0)
    assert x.tolist() == [[7.0] * 3] * 2 and copy[0] == 5


def test_parts_are_the_same_memory() -> None:
    x = tt.arange(3, dtype=tt.uint8)
    part = x.untyped_storage()[1:3]
    part[0] = 9
    assert part.tolist() == [9, 2] and x.tolist() == [0, 9, 2]
    with pytest.raises(RuntimeError, match="slices are only supported in UntypedStorage"):
        x.storage()[0:1]  # as in PyTorch


def test_is_storage_and_isinstance_recognize_storages() -> None:
    x = tt.ones(2)
    assert tt.is_storage(x.untyped_storage()) and tt.is_storage(x.storage())
    assert not tt.is_storage(x) and not tt.is_storage([1.0])
    assert isinstance(x.storage(), tt.TypedStorage)
    assert isinstance(x.untyped_storage(), tt.UntypedStorage)
    assert x.storage().dtype is tt.float32


def indexed(index: Any) -> Any:
    return lambda t: t.UntypedStorage(3)[index]


def filled(t: Any) -> list[int]:
    made = t.UntypedStorage(2)
    made.fill_(-1)
    made[0] = 258
    return made.tolist()  # type: ignore[no-any-return]


def swapped(t: Any) -> list[int]:
    made = t.UntypedStorage([1, 2, 3, 4, 5, 6, 7, 8])
    made.byteswap(t.float32)
    made.byteswap(t.uint8)
    return made.tolist()  # type: ignore[no-any-return]


#: What is made of bytes: numbers, or the error in their place.
MADE: dict[str, Any] = {
    "sizes": lambda t: [t.UntypedStorage(n).nbytes() for n in (0, 4)] + [len(t.UntypedStorage())],
    "bytes": lambda t: t.UntypedStorage([1, 2, 300]).tolist(),
    "another's": lambda t: t.UntypedStorage(t.UntypedStorage([1, 2])).tolist(),
    "filled": filled,
    "copied": lambda t: t.UntypedStorage(2).copy_(t.UntypedStorage([3, 4])).cpu().tolist(),
    "typed": lambda t: t.TypedStorage(
        wrap_storage=t.UntypedStorage([0, 0, 128, 63]), dtype=t.float32).tolist(),
    "casts": lambda t: [
        (getattr(t.UntypedStorage([0, 2, 255]), name)().tolist(), name) for name in (
            "byte", "char", "short", "int", "long", "half", "float", "double", "complex_float",
            "complex_double", "bool")],
    "swapped": swapped,
    "resized": lambda t: [t.UntypedStorage([1, 2, 3]).resize_(2).tolist(),
                          t.UntypedStorage([1, 2, 3]).resize_(5).tolist()[:3]],
    "another size": lambda t: t.UntypedStorage(2).copy_(t.UntypedStorage(3)),
    "a step": indexed(slice(None, None, 2)),
    "a text for a place": indexed("a"),
    "beyond": indexed(5),
    "a fraction": lambda t: t.UntypedStorage(2).__setitem__(0, 1.5),
}  # fmt: skip


@pytest.mark.parametrize("case", MADE)
def test_storages_constructed_without_a_tensor_are_pytorchs(torch: Any, case: str) -> None:
    answers = []
    for library in (tt, torch):
        try:
            answers.append(MADE[case](library))
        except (IndexError, RuntimeError, TypeError) as error:
            answers.append((type(error), str(error).replace("tinytorch.", "torch.")))
    assert answers[0] == answers[1]


def test_a_tensor_keeps_its_memory() -> None:
    """PyTorch's would lose it, and be unusable."""
    x = tt.ones(2)
    x.untyped_storage().resize_(8)
    with pytest.raises(NotImplementedError, match="belongs to a tensor"):
        x.untyped_storage().resize_(0)
    assert x.storage().double().tolist() == [1.0, 1.0] and x.storage().float().dtype is tt.float32


def test_typed_storages_are_deprecated() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tt.ones(1).untyped_storage()
        with pytest.raises(UserWarning, match="TypedStorage is deprecated"):
            tt.ones(1).storage()


def test_storages_from_files_map_them_as_pytorchs(torch: Any, tmp_path: Path) -> None:
    file, missing = str(tmp_path / "bytes"), str(tmp_path / "missing")
    for library in (tt, torch):
        (tmp_path / "bytes").write_bytes(bytes(range(16)))
        (tmp_path / "new").unlink(missing_ok=True)
        alone = library.UntypedStorage.from_file(file, nbytes=8)
        alone.untyped()[0] = 9
        assert alone.tolist() == [9, 1, 2, 3, 4, 5, 6, 7]
        assert library.UntypedStorage.from_file(file, False, 1)[0] == 0
        shared = library.UntypedStorage.from_file(file, shared=True, nbytes=2)
        shared[1] = 7
        assert library.from_file(file, size=2, dtype=library.uint8).tolist() == [0, 7]
        assert library.from_file(file, size=3, dtype=library.int16)[1:].tolist() == [770, 1284]
        new = library.from_file(str(tmp_path / "new"), shared=True, size=3)
        assert new.tolist() == [0.0] * 3 and (tmp_path / "new").stat().st_size == 12
        assert library.from_file(file).numel() == library.UntypedStorage.from_file(file).nbytes()
        for read in (library.UntypedStorage.from_file, library.from_file):
            with pytest.raises(RuntimeError, match="size <16> is smaller than the required"):
                read(file, False, 17)
            with pytest.raises(RuntimeError, match="unable to open file <.*> in read-only mode"):
                read(missing, False, 1)
        with pytest.raises(RuntimeError, match="unable to open file <.*> in read-write mode"):
            library.from_file(str(tmp_path / "no" / "folder"), shared=True, size=1)


@pytest.mark.parametrize("make", ["asarray", "as_tensor", "tensor"])
def test_tensors_of_storages_have_pytorchs_values_and_errors(torch: Any, make: str) -> None:
    for library in (tt, torch):
        x, function = library.arange(3, dtype=library.int32), getattr(library, make)
        assert function(x.untyped_storage()[4:8], dtype=library.uint8).tolist() == [1, 0, 0, 0]
        assert function(x.untyped_storage(), dtype=library.int32).tolist() == [0, 1, 2]
        assert function(x.untyped_storage()[0:0], dtype=library.float64).tolist() == []
        assert function(x.storage(), dtype=library.int32).tolist() == [0, 1, 2]
        with pytest.raises(RuntimeError, match="Expected a Storage of type .* but got .*nt"):
            function(x.storage(), dtype=library.float64)


def test_the_storage_of_an_empty_tensor_has_no_bytes() -> None:
    assert tt.zeros(0, 3).untyped_storage().nbytes() == 0
    assert tt.zeros(0).untyped_storage().data_ptr() == 0


#: name: a part of a tensor, cut off from it.
PARTS: dict[str, Any] = {
    "a detached row": lambda x: x[1].detach(),
    "a row's data": lambda x: x[1].data,
    "a part of a detached part": lambda x: x[1:].detach()[1:, 2:],
    "a detached part turned": lambda x: x[1:, 1:].detach().t(),
    "detached twice": lambda x: x[2].detach()[1:].detach(),
    "a row in another dtype": lambda x: x[1].detach().view(dtype_of_width(x, 2)),
    "all": lambda x: x.detach(),
    "its own data": lambda x: x.clone().data,
    "a copy": lambda x: x[1:].clone(),
    "a result": lambda x: x[1:] * 2,
}


def dtype_of_width(x: Any, width: int) -> Any:
    """The integer dtype, of ``x``'s library, of so many bytes."""
    module = libraries()[not isinstance(x, tt.Tensor)]
    return {2: module.int16, 4: module.int32}[width]


@pytest.mark.parametrize("name", PARTS)
def test_offsets_and_sizes_of_views_in_storages_are_pytorchs(torch: Any, name: str) -> None:
    ours, theirs = (PARTS[name](m.arange(24.0).reshape(4, 6)) for m in (tt, torch))
    assert ours.storage_offset() == theirs.storage_offset()
    assert ours._is_view() == theirs._is_view() or name == "a row in another dtype"
    size = ours.untyped_storage().nbytes() // ours.itemsize
    assert size == theirs.untyped_storage().nbytes() // theirs.itemsize
    for window in (((2,), (1,), 0), ((2, 2), (1, 3), size - 5), ((3,), (1,))):
        assert ours.as_strided(*window).tolist() == theirs.as_strided(*window).tolist()


def test_windows_of_detached_parts_stay_in_the_memory() -> None:
    part = tt.arange(24.0).reshape(4, 6)[1].detach()
    with pytest.raises(RuntimeError, match="offset 6.*out of bounds for storage of size 96"):
        part.as_strided((30,), (1,))


def test_parameters_and_data_keep_their_place() -> None:
    rows = tt.arange(6.0).reshape(2, 3)
    assert tt.nn.Parameter(rows[1]).storage_offset() == 3
    leaf = tt.zeros(3, requires_grad=True)
    leaf.data = rows[1]
    assert leaf.storage_offset() == 3 and leaf.as_strided((2,), (1,), 0).tolist() == [0.0, 1.0]
    leaf.data = tt.ones(3)
    assert leaf.storage_offset() == 0
    other = tt.zeros(1).set_(rows[1, 1:])
    assert other.storage_offset() == 4 and other._version == 1


def test_a_copy_of_a_view_takes_any_strides() -> None:
    x = tt.arange(6).reshape(2, 3).t()
    assert tt.view_copy(x, (6,)).tolist() == [0, 3, 1, 4, 2, 5]
    assert tt.view_copy(x, 2, -1).tolist() == [[0, 3, 1], [4, 2, 5]]


#: Calls of ``set_``, by the kind of their arguments.
SET: dict[str, Any] = {
    "a tensor": lambda m, x: x.set_(m.arange(6.0)[2:]),
    "nothing": lambda m, x: x.set_(),
    "a storage": lambda m, x: x.set_(m.arange(6.0).untyped_storage()),
    "a window": lambda m, x: x.set_(m.arange(6.0).untyped_storage(), 1, (2, 2), (2, 1)),
    "a window in rows": lambda m, x: x.set_(m.arange(6.0).untyped_storage(), 1, (2, 2)),
    "a tensor's window": lambda m, x: x.set_(m.arange(6.0)[3:], 1, (2, 2), (1, 0)),
    "too much": lambda m, x: x.set_(m.arange(6.0), 1, (2, 3)),
    "of a leaf": lambda m, x: x.requires_grad_().set_(m.zeros(3)),
    "another dtype": lambda m, x: x.set_(m.arange(6)),
}


@pytest.mark.parametrize("name", SET)
def test_set_has_pytorchs_results_and_errors(torch: Any, name: str) -> None:
    found: list[Any] = []
    for m in (tt, torch):
        x = m.ones(2, 3)
        try:
            assert SET[name](m, x) is x
        except RuntimeError as error:
            found.append(str(error)[:26])  # the beginning of the message
        else:
            found.append((x.tolist(), x.stride(), x.storage_offset(), x._version))
    assert found[0] == found[1]


def test_set_raises_for_a_number() -> None:
    number: Any = 3
    with pytest.raises(TypeError, match="'source' .* must be Tensor or UntypedStorage, not int"):
        tt.ones(2).set_(number)


def test_a_tensor_writes_to_the_memory_passed_to_set() -> None:
    source = tt.zeros(6)
    tt.ones(1).set_(source.untyped_storage(), 2, (2, 2)).fill_(3.0)
    assert source.tolist() == [0.0, 0.0, 3.0, 3.0, 3.0, 3.0]


def test_bytes_of_steps_that_do_not_fit_are_not_viewed() -> None:
    with pytest.raises(RuntimeError, match=r"self.stride\(0\) must be divisible by 2 to view"):
        tt.ones(3, 5)[:, :2].view(tt.float64)
    with pytest.raises(RuntimeError, match="invalid storage offset -1"):
        tt.ones(3).as_strided((2,), (1,), -1)
