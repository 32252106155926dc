"""Sources of random arrays: NumPy's two kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from ..core.holder import held
from ..core.tensor import Tensor
from ..state import current_backend
from ._laws import Law0, Law2, Sized, Sizes
from .arrays import ndarray
from .functions.conversion import tensor_of
from .namespace import detached
from .sources import Source, closed, draw, law


class Generator(Source):
    """A source of random arrays; ``default_rng`` makes one.

    Args:
        bit_generator: Where its bits come from, such as ``np.random.PCG64(0)``.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.random.Generator(np.random.PCG64(0)).normal(size=(2, 3)).shape
        (2, 3)
    """

    __module__ = "tinytorch.numpy.random"

    def __init__(self, bit_generator: Any) -> None:
        self._backend = current_backend()
        self._source = self._backend.library.random.Generator(bit_generator)

    @property
    def bit_generator(self) -> Any:
        """Where its bits come from; its ``state`` can be kept and set."""
        return self._source.bit_generator

    integers: Law2[int] = law(
        "integers", "rng.integers(10, size=(2, 3)).shape",
        "(2, 3)", "rng = np.random.default_rng(0)",
    )  # fmt: skip
    multivariate_hypergeometric: Callable[..., ndarray] = law(
        "multivariate_hypergeometric", "rng.multivariate_hypergeometric([3, 4], 2).sum()", "2",
        "rng = np.random.default_rng(0)",
    )  # fmt: skip

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators whose numbers have nothing to do with this one's or each other's.

        Args:
            n_children: How many.

        Example:
            >>> import tinytorch.numpy as np
            >>> len(np.random.default_rng(0).spawn(2))
            2
        """
        return [Generator.of(each, self._backend) for each in self._source.spawn(n_children)]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put the elements of a list, or the slices of an array, in a random order.

        Args:
            x: What is written to.
            axis: The dimension of which the slices are; default the first.

        Example:
            >>> import tinytorch.numpy as np
            >>> x = [1, 2, 3]
            >>> np.random.default_rng().shuffle(x)
            >>> sorted(x)
            [1, 2, 3]
        """
        self._shuffled(x, axis)

    @overload
    def permutation(self, x: Tensor, axis: int = 0) -> Tensor: ...
    @overload
    def permutation(self, x: Any, axis: int = 0) -> ndarray: ...
    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The numbers below ``x``, or the slices of an array, in a random order.

        Args:
            x: A number, or an array of at least one dimension, to which the gradient flows.
            axis: The dimension of which the slices are; default the first.

        Example:
            >>> import tinytorch.numpy as np
            >>> np.sort(np.random.default_rng(0).permutation(4))
            array([0, 1, 2, 3])
        """
        return self._permuted(x, axis)

    @overload
    def permuted(self, x: Tensor, *, axis: int | None = None, out: Any = None) -> Tensor: ...
    @overload
    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> ndarray: ...
    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """The elements in a random order, in each slice along a dimension in one of its own.

        Args:
            x: An array, to which the gradient flows.
            axis: The dimension; None, the default, means that all elements change places.
            out: Where to write the result.

        Example:
            >>> import tinytorch.numpy as np
            >>> np.random.default_rng(0).permuted([[1, 2, 3], [4, 5, 6]], axis=1).sum(axis=1)
            array([ 6, 15])
        """
        place = self._place()
        given = tensor_of(held(x), place[1])
        size = given.numel() if axis is None else given.shape[axis]
        order = place[1].library.arange(size)
        if axis is None:
            order = order.reshape(tuple(given.shape))
        else:
            shape = [-1 if d == axis % given.ndim else 1 for d in range(given.ndim)]
            order = order.reshape(shape) + place[1].library.zeros(tuple(given.shape), "int64")
        index = held(draw(place, "permuted", (order,), {"axis": axis}))
        found = given.reshape(-1)[index] if axis is None else given.gather(axis, index)
        if out is None:
            return closed(found, x)
        if out.dtype != found.dtype:
            raise TypeError(f"Cannot cast {found.dtype.name} to out= of dtype {out.dtype}")
        if tuple(out.shape) != tuple(found.shape):
            shapes = f"{tuple(out.shape)}, the result {tuple(found.shape)}"
            raise ValueError(f"out= must have the same shape as x: it has {shapes}")
        held(out).copy_(found)
        return out

    @overload
    def choice(
        self, a: int, size: None = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> int: ...  # fmt: skip
    @overload
    def choice(
        self, a: Tensor, size: Sizes | None = None, replace: bool = True, p: Any = None,
        axis: int = 0, shuffle: bool = True,
    ) -> Tensor: ...  # fmt: skip
    @overload
    def choice(
        self, a: Any, size: Sizes | None = None, replace: bool = True, p: Any = None,
        axis: int = 0, shuffle: bool = True,
    ) -> ndarray: ...  # fmt: skip
    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> Any:  # fmt: skip
        """Numbers below ``a``, or slices of an array, at random.

        Args:
            a: A number, or an array, to which the gradient flows.
            size: How many, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default yes.
            p: How probable each is; default all the same.
            axis: The dimension of which the slices are; default the first.
            shuffle: Whether what is drawn without being replaced is in a random order.

        Example:
            >>> import tinytorch.numpy as np
            >>> np.random.default_rng(0).choice([10, 20, 30], size=2, p=[0, 1, 0])
            array([20, 20])
        """
        return self._chosen(a, size, {"replace": replace, "p": p, "shuffle": shuffle}, axis)


class RandomState(Source):
    """A source of random arrays of NumPy's older kind, whose numbers stay as they are.

    Args:
        seed: A number, which gives the same arrays again; None, the default, gives new ones.

    Example:
        >>> import tinytorch.numpy as np
        >>> np.random.RandomState(0).rand(2)
        array([0.5488135 , 0.71518937])
    """

    __module__ = "tinytorch.numpy.random"

    def __init__(self, seed: Any = None) -> None:
        self._backend = current_backend()
        self._source = self._backend.library.random.RandomState(detached("RandomState", seed))

    rand: Sized = law("rand", "np.random.rand(2)", "array([0.5488135 , 0.71518937])")
    randint: Law2[int] = law("randint", "np.random.randint(10, size=3)", "array([5, 0, 3])")
    randn: Sized = law("randn", "np.random.randn(2)", "array([1.76405235, 0.40015721])")
    random_sample: Law0[float] = law(
        "random_sample", "np.random.random_sample(2)",
        "array([0.5488135 , 0.71518937])",
    )  # fmt: skip
    seed: Callable[..., None] = law("seed", "np.random.rand(2)", "array([0.5488135 , 0.71518937])")
    random_integers: Law2[int] = law(
        "random_integers", "np.random.RandomState(0).get_state()[0]", "'MT19937'"
    )
    tomaxint: Law0[int] = law("tomaxint", "np.random.RandomState(0).tomaxint(2).shape", "(2,)")
    get_state: Callable[..., Any] = law("get_state", "np.random.get_state()[0]", "'MT19937'")
    set_state: Callable[..., None] = law(
        "set_state", "np.random.set_state(np.random.get_state())", ""
    )

    def shuffle(self, x: Any) -> None:
        """Put the elements of a list, or the slices of an array, in a random order.

        Args:
            x: What is written to.

        Example:
            >>> import tinytorch.numpy as np
            >>> x = [1, 2, 3]
            >>> np.random.shuffle(x)
            >>> sorted(x)
            [1, 2, 3]
        """
        self._shuffled(x)

    @overload
    def permutation(self, x: Tensor) -> Tensor: ...
    @overload
    def permutation(self, x: Any) -> ndarray: ...
    def permutation(self, x: Any) -> Any:
        """The numbers below ``x``, or the slices of an array, in a random order.

        Args:
            x: A number, or an array of at least one dimension, to which the gradient flows.

        Example:
            >>> import tinytorch.numpy as np
            >>> np.random.seed(0)
            >>> np.random.permutation(4)
            array([2, 3, 1, 0])
        """
        return self._permuted(x)

    @overload
    def choice(self, a: int, size: None = None, replace: bool = True, p: Any = None) -> int: ...
    @overload
    def choice(
        self, a: Tensor, size: Sizes | None = None, replace: bool = True, p: Any = None
    ) -> Tensor: ...
    @overload
    def choice(
        self, a: Any, size: Sizes | None = None, replace: bool = True, p: Any = None
    ) -> ndarray: ...
    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Numbers below ``a``, or elements of an array, at random.

        Args:
            a: A number, or an array, of whose first dimension the slices are drawn.
            size: How many, or a shape; None, the default, means one.
            replace: Whether one may be drawn several times; default yes.
            p: How probable each is; default all the same.

        Example:
            >>> import tinytorch.numpy as np
            >>> np.random.choice([10, 20, 30], size=2, p=[0, 1, 0])
            array([20, 20])
        """
        if a.__class__ is not int and tensor_of(held(a), self._place()[1]).ndim > 1:
            raise ValueError("a must be 1-dimensional")
        return self._chosen(a, size, {"replace": replace, "p": p})
