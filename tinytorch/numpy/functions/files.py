"""NumPy's file format: one array a file, ``.npy``, and archives of them, ``.npz``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...core.tensor import Tensor
from .conversion import host, tensor_of
from .registration import numpy_function


@numpy_function
def save(file: Any, arr: Any, allow_pickle: bool = False) -> None:
    """Write a tensor to a file in NumPy's format.

    Args:
        file: A path, to which ``.npy`` is added if it is missing, or a file open for bytes.
        arr: Tensor, or what makes one.
        allow_pickle: Accepted; no tensor needs it.

    Example:
        >>> import tinytorch.numpy as np
        >>> import io
        >>> file = io.BytesIO()
        >>> np.save(file, [1, 2])
        >>> file.getvalue()[1:6]
        b'NUMPY'
    """
    host().save(file, tensor_of(arr).detach().cpu().numpy(), allow_pickle=False)


class Archive(Mapping[str, Any]):
    """The arrays of an ``.npz`` file by name, read when they are asked for.

    Args:
        opened: The archive, as NumPy opened it.
        made: What becomes of the Tensor that is read; default: nothing.

    Attributes:
        files: The names.

    Example:
        >>> import tinytorch.numpy as np
        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, weight=[1, 2], bias=[3])
        >>> file.seek(0)
        0
        >>> with np.load(file) as archive:
        ...     archive.files, archive["bias"]
        (['weight', 'bias'], array([3]))
    """

    def __init__(self, opened: Any, made: Callable[[Any], Any] = tensor_of) -> None:
        self._opened = opened
        self._made = made
        self.files: list[str] = list(opened.files)

    def __getitem__(self, name: str) -> Any:
        return self._made(tensor_of(self._opened[name]))

    def of(self, made: Callable[[Any], Any]) -> Archive:
        """The same archive of what ``made`` makes of its Tensors.

        Args:
            made: Takes a Tensor.

        Example:
            >>> import io
            >>> import tinytorch.numpy as np
            >>> file = io.BytesIO()
            >>> np.savez(file, bias=[3])
            >>> file.seek(0)
            0
            >>> np.load(file).of(lambda tensor: tensor.tolist())["bias"]
            [3]
        """
        return Archive(self._opened, made)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def close(self) -> None:
        """Close the file; what it holds can no longer be read.

        Example:
            >>> import io
            >>> import tinytorch.numpy as np
            >>> file = io.BytesIO()
            >>> np.savez(file, bias=[3])
            >>> file.seek(0)
            0
            >>> np.load(file).close()
        """
        self._opened.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@numpy_function
def load(
    file: Any, mmap_mode: None = None, allow_pickle: bool = False, fix_imports: bool = True,
    encoding: str = "ASCII", *, max_header_size: int = 10000,
) -> Tensor | Archive:  # fmt: skip
    """What ``save``, ``savez`` or NumPy wrote.

    Args:
        file: A path, or a file open for bytes.
        mmap_mode: Only None: memory maps are NumPy's alone.
        allow_pickle: As NumPy's; arrays of Python objects are refused in any case.
        fix_imports: As NumPy's.
        encoding: As NumPy's.
        max_header_size: As NumPy's.

    Returns:
        A tensor; of an archive the tensors by name.

    Raises:
        ValueError: For a file that holds Python objects.

    Example:
        >>> import tinytorch.numpy as np
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
