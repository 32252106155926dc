"""NumPy's functions of files and archives, and of an array's memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape import tensor_functions
from .conversion import array_of, as_dtype, host, tensor_of, tensors_of
from .creation import asarray
from .registration import numpy_function, register_as, register_shared_as


@numpy_function
def save(file: Any, arr: Any, allow_pickle: bool = False) -> None:
    """Write a tensor to a file in NumPy's format.

    Args:
        file: A path, to which ``.npy`` is added if it is missing, or an open binary file.
        arr: Tensor or array-like.
        allow_pickle: Accepted; no tensor needs it.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.save(file, [1, 2])
        >>> file.getvalue()[1:6]
        b'NUMPY'
    """
    host().save(file, tensor_of(arr).detach().cpu().numpy(), allow_pickle=False)


class Archive(Mapping[str, Any]):
    """The arrays of an ``.npz`` file by name, read on access.

    Args:
        archive: NumPy's object of the open archive.
        convert: Function that converts a Tensor that is read; default: none.

    Attributes:
        files: The names.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, weight=[1, 2], bias=[3])
        >>> file.seek(0)
        0
        >>> with np.load(file) as archive:
        ...     archive.files, archive["bias"]
        (['weight', 'bias'], array([3]))
    """

    def __init__(self, archive: Any, convert: Callable[[Any], Any] = tensor_of) -> None:
        self._archive = archive
        self._convert = convert
        self.files: list[str] = list(archive.files)

    def __getitem__(self, name: str) -> Any:
        return self._convert(tensor_of(self._archive[name]))

    def of(self, convert: Callable[[Any], Any]) -> Archive:
        """The same archive with another conversion of its Tensors.

        Args:
            convert: Function of a Tensor.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> np.savez(file, bias=[3])
            >>> file.seek(0)
            0
            >>> np.load(file).of(lambda tensor: tensor.tolist())["bias"]
            [3]
        """
        return Archive(self._archive, convert)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def close(self) -> None:
        """Close the file; arrays that have not been read cannot be read any more.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> np.savez(file, bias=[3])
            >>> file.seek(0)
            0
            >>> np.load(file).close()
        """
        self._archive.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@numpy_function
def load(
    file: Any, mmap_mode: None = None, allow_pickle: bool = False, fix_imports: bool = True,
    encoding: str = "ASCII", *, max_header_size: int = 10000,
) -> Tensor | Archive:  # fmt: skip
    """Read a file that ``save``, ``savez`` or NumPy has written.

    Args:
        file: A path, or an open binary file.
        mmap_mode: Must be None: only NumPy has memory maps.
        allow_pickle: See ``numpy.load``; arrays of Python objects raise in any case.
        fix_imports: See ``numpy.load``.
        encoding: See ``numpy.load``.
        max_header_size: See ``numpy.load``.

    Returns:
        A tensor; for an archive, a mapping of names to tensors.

    Raises:
        ValueError: For a file that holds Python objects.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.save(file, [1, 2])
        >>> file.seek(0)
        0
        >>> np.load(file)
        array([1, 2])
    """
    if mmap_mode is not None:
        raise TypeError("load(): mmap_mode is NumPy's alone: read the file with numpy.load")
    found = host().load(
        file, None, allow_pickle, fix_imports, encoding, max_header_size=max_header_size
    )
    return Archive(found) if hasattr(found, "files") else tensor_of(found)


def _as_numpy(values: Any) -> Any:
    """NumPy's own array of a Tensor or array-like."""
    return array_of(values).detach().cpu().numpy()


def _archive_writer(name: str, kind: str) -> Callable[..., None]:
    """Make and register ``savez`` or ``savez_compressed``.

    Args:
        name: Name of the function.
        kind: ``"an uncompressed"`` or ``"a compressed"``, for the docstring.
    """

    def function(file: Any, *args: Any, **kwds: Any) -> None:
        named = {key: _as_numpy(value) for key, value in kwds.items()}
        getattr(host(), name)(file, *map(_as_numpy, args), **named)

    doc = f"""Write tensors to {kind} archive, ``.npz``, that NumPy reads.

    Args:
        file: A path, to which ``.npz`` is added if it is missing, or an open binary file.
        *args: Tensors, which are named ``arr_0``, ``arr_1``, …
        **kwds: Tensors by name.

    Raises:
        ValueError: If a name is also one of the positional tensors' names.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.{name}(file, weights=tt.ones(2))
        >>> file.getvalue()[:2]
        b'PK'
    """
    return register_shared_as(function, name, doc)


savez: Callable[..., None] = _archive_writer("savez", "an uncompressed")
savez_compressed: Callable[..., None] = _archive_writer("savez_compressed", "a compressed")


@numpy_function
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Tensor:
    """``a`` in column-major order, with at least one dimension.

    Args:
        a: Tensor or array-like.
        dtype: The wanted dtype; default ``a``'s.
        like: Accepted.

    Example:
        >>> np.asfortranarray([[1, 2], [3, 4]]).strides
        (8, 16)
    """
    found: Any = asarray(a, dtype)
    return _column_major(found) if found.ndim else found.reshape(1)  # type: ignore[no-any-return]


def _column_major(x: Any) -> Any:
    """``x`` with its memory in column-major order: the first index changes fastest."""
    order = tuple(reversed(range(x.ndim)))
    return x.permute(order).contiguous().permute(order)


@numpy_function
def isfortran(a: Any) -> bool:
    """Whether a tensor is in column-major order, and not in row-major order as well.

    Args:
        a: Tensor or array-like.

    Example:
        >>> np.isfortran(np.ones((2, 3)).T), np.isfortran(np.ones(3))
        (True, False)
    """
    flags = tensor_of(a)._data.flags
    return bool(flags.f_contiguous and not flags.c_contiguous)


@numpy_function
def require(
    a: Any, dtype: Any = None, requirements: Sequence[str] | None = None, *, like: Any = None
) -> Tensor:
    """``a`` as a tensor whose memory satisfies requirements.

    Args:
        a: Tensor or array-like.
        dtype: The wanted dtype; default ``a``'s.
        requirements: ``"C"`` for row-major order, ``"F"`` for column-major, ``"O"`` for a tensor
            that is not a view; every tensor satisfies ``"A"``, ``"W"`` and ``"E"``.
        like: Accepted.

    Raises:
        ValueError: For both orders, or another requirement.

    Example:
        >>> np.require([[1, 2], [3, 4]], requirements="F").flags.f_contiguous
        True
    """
    flags = {word[0].upper() for word in requirements or ()}
    if flags >= {"C", "F"} or not flags <= set("CFOAWE"):
        raise ValueError(f"require(): expected C or F, O, A, W and E, got {requirements!r}")
    found: Any = asarray(a, dtype)
    found = _column_major(found) if "F" in flags else found
    found = found.contiguous() if "C" in flags else found
    return found.clone() if "O" in flags and found._is_view() else found  # type: ignore


@numpy_function
def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Tensor:
    """``a`` as a tensor, which is checked for infinities and NaNs.

    Args:
        a: Tensor or array-like.
        dtype: The wanted dtype; default ``a``'s.
        order: Accepted; the result is in row-major order.

    Raises:
        ValueError: If an element is infinite or NaN.

    Example:
        >>> np.asarray_chkfinite([1, 2])
        array([1, 2])
    """
    found: Any = asarray(a, dtype)
    if not bool(found.isfinite().all()):
        raise ValueError("array must not contain infs or NaNs")
    return found  # type: ignore[no-any-return]


@numpy_function
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Tensor that shares the memory of another library's array, through DLPack.

    Args:
        x: An array with ``__dlpack__``.
        device: Device of the result; default the array's.
        copy: Whether to copy; None, the default, copies only if needed, False must not copy.

    Example:
        >>> np.from_dlpack(np.array([1, 2]))
        array([1, 2])
    """
    found = tensor_functions.from_dlpack(x)
    return asarray(found if device is None else found.to(device=device), copy=copy)


@numpy_function
def frombuffer(
    buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None
) -> Tensor:
    """Interpret a buffer of bytes as a 1-d tensor.

    Args:
        buffer: Bytes, an array on the CPU, or an object with the buffer interface.
        dtype: Dtype of the elements, of either byte order; default float64.
        count: Number of elements; default all.
        offset: Number of bytes to skip first; default 0.
        like: Accepted.

    Returns:
        A tensor that shares the buffer's memory if that is on the CPU and in native byte order,
        else a copy.

    Example:
        >>> np.frombuffer(bytes([1, 2, 3]), np.uint8, offset=1)
        array([2, 3], dtype=uint8)
    """
    if isinstance(buffer, Tensor):
        buffer = buffer.detach()._data
    found = host().frombuffer(buffer, dtype, count, offset)
    as_dtype(found.dtype.newbyteorder("="))
    return tensor_of(found)  # type: ignore[no-any-return]


def _sharing_test(name: str, summary: str) -> Callable[..., bool]:
    """Make and register ``shares_memory`` or ``may_share_memory``.

    Args:
        name: Name of the function, which calls the one of the tensors' array library.
        summary: Beginning of its docstring.
    """

    def function(a: Any, b: Any, /, max_work: int | None = None) -> bool:
        x, y = tensors_of(a, b)
        return bool(getattr(x._xp.library, name)(x.detach()._data, y.detach()._data, max_work))

    doc = f"""{summary}.

    Args:
        a: Tensor or array-like.
        b: Tensor or array-like.
        max_work: Limit of the effort; see ``numpy.{name}``.
    """
    example = (">>> x = np.arange(4)", f">>> np.{name}(x[:3], x[2:])", "True")
    return register_as(function, name, doc, *example)


shares_memory: Callable[..., bool] = _sharing_test(
    "shares_memory", "Whether two tensors have an element in common"
)
may_share_memory: Callable[..., bool] = _sharing_test(
    "may_share_memory", "Whether the ranges of memory of two tensors overlap"
)
