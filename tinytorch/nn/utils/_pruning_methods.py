"""Pruning methods, which compute the masks, and the hook that applies them; see ``prune``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ...core.tensor import Tensor
from ...ops.create.factories import ones_like, zeros_like
from ...ops.random.sampling import rand, rand_like
from ...ops.reduce.norms import p_norm
from ...state.tracebacks import short
from ..module import Module

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured",
]  # fmt: skip


class BasePruningMethod(ABC):
    """Hook that multiplies a parameter by its mask; subclasses compute the mask.

    Attributes:
        PRUNING_TYPE: ``"unstructured"`` for masks of single elements, ``"structured"`` for masks
            of channels, ``"global"`` for masks that do not depend on earlier ones.

    Example:
        >>> from tinytorch.nn.utils import prune
        >>> class Negative(prune.BasePruningMethod):
        ...     def compute_mask(self, t, default_mask):
        ...         return default_mask * (t > 0)
        >>> Negative().prune(tt.tensor([2.0, -1.0]))
        tensor([2., -0.])
    """

    PRUNING_TYPE: ClassVar[str] = "unstructured"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask for a tensor of scores; it is 0 wherever ``default_mask`` is 0.

        Args:
            t: Importance of each element.
            default_mask: Mask of earlier pruning.

        Example:
            >>> method = tt.nn.utils.prune.L1Unstructured(1)
            >>> method.compute_mask(tt.tensor([3.0, -1.0]), default_mask=tt.ones(2))
            tensor([1., 0.])
        """

    def apply_mask(self, module: Module) -> Tensor:
        """Return the original parameter times the mask.

        Args:
            module: The module that has both.

        Example:
            >>> from tinytorch.nn.utils import prune
            >>> layer = tt.nn.Linear(2, 1)
            >>> method = prune.L1Unstructured.apply(layer, "weight", 1)
            >>> tt.equal(method.apply_mask(layer), layer.weight)
            True
        """
        mask: Any = getattr(module, f"{self._tensor_name}_mask")
        original = getattr(module, f"{self._tensor_name}_orig")
        return mask.to(dtype=original.dtype) * original  # type: ignore[no-any-return]

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """Return a tensor times the mask that is computed for it.

        Args:
            t: The tensor.
            default_mask: Mask of earlier pruning. Default: all ones.
            importance_scores: Scores for ``compute_mask``. Default: ``t``.

        Example:
            >>> tt.nn.utils.prune.L1Unstructured(1).prune(tt.tensor([3.0, -1.0]))
            tensor([3., -0.])
        """
        scores = t if importance_scores is None else importance_scores
        mask = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, mask)

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prune a parameter by this method, in addition to earlier methods.

        Args:
            module: The module.
            name: Name of the parameter.
            *args: Arguments of the class.
            importance_scores: Scores for ``compute_mask``. Default: the parameter.
            **kwargs: Keyword arguments of the class.

        Returns:
            The hook: the method, or a container of all methods of the parameter.

        Raises:
            AssertionError: If the scores do not have the parameter's shape.

        Example:
            >>> from tinytorch.nn.utils import prune
            >>> layer = tt.nn.Linear(4, 1)
            >>> method = prune.L1Unstructured.apply(layer, "weight", amount=3)
            >>> layer.weight.count_nonzero()
            tensor(1)
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        key, before = find_hook(module, name)
        hook: BasePruningMethod = method
        if before is not None:
            # Leave the container in use unchanged, in case the mask cannot be computed.
            methods = before._pruning_methods if isinstance(before, PruningContainer) else [before]
            hook = container = PruningContainer(*methods)
            container.add_pruning_method(method)
        original: Any = getattr(module, name if before is None else f"{name}_orig")
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        old_mask = getattr(module, f"{name}_mask", None)
        old_mask = ones_like(original.detach()) if old_mask is None else old_mask
        mask = hook.compute_mask(scores.detach(), old_mask)
        if before is None:
            delattr(module, name)
            module.register_parameter(f"{name}_orig", original)
        elif key is not None:
            del module._forward_pre_hooks[key]
        module.register_buffer(f"{name}_mask", mask)
        hook(module, None)
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the pruned parameter an ordinary one, with zeros at the pruned elements.

        Args:
            module: The module.

        Example:
            >>> from tinytorch.nn.utils import prune
            >>> layer = tt.nn.Linear(4, 1)
            >>> method = prune.L1Unstructured.apply(layer, "weight", amount=3)
            >>> method.remove(layer)
            >>> list(layer.state_dict())
            ['bias', 'weight']
        """
        name = self._tensor_name
        value = self.apply_mask(module)
        original: Any = getattr(module, f"{name}_orig")
        original.data = value.detach()
        for attribute in (name, f"{name}_orig", f"{name}_mask"):
            delattr(module, attribute)
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Sequence of methods that prune the same parameter.

    Args:
        *args: The methods.

    Example:
        >>> from tinytorch.nn.utils import prune
        >>> layer = tt.nn.Linear(4, 1)
        >>> hook = prune.L1Unstructured.apply(layer, "weight", 1)
        >>> hook = prune.RandomUnstructured.apply(layer, "weight", 1)
        >>> type(hook).__name__, len(hook)
        ('PruningContainer', 2)
    """

    PRUNING_TYPE = "container"

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods = tuple(args)
        if args:
            self._tensor_name = args[0]._tensor_name

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Append a method.

        Args:
            method: A method for the same parameter.

        Raises:
            TypeError: If ``method`` is not a pruning method.
            ValueError: If it prunes another parameter.

        Example:
            >>> from tinytorch.nn.utils import prune
            >>> layer = tt.nn.Linear(4, 1)
            >>> first = prune.L1Unstructured.apply(layer, "weight", 1)
            >>> container = prune.PruningContainer(first)
            >>> container.add_pruning_method(first)
            >>> len(container)
            2
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Apply the last method to the part of ``default_mask`` that is not pruned yet."""
        method = self._pruning_methods[-1]
        mask: Any = default_mask.to(dtype=t.dtype).clone()
        part: Any = slice(None)
        if method.PRUNING_TYPE == "unstructured":
            part = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = getattr(method, "dim", 0) % t.ndim
            others = [d for d in range(t.ndim) if d != dim]
            part = (slice(None),) * dim + (mask.sum(others) != 0,)
        mask[part] = method.compute_mask(t[part], default_mask=mask[part])
        return mask  # type: ignore[no-any-return]


class Identity(BasePruningMethod):
    """Method that prunes nothing.

    Example:
        >>> tt.nn.utils.prune.Identity().prune(tt.tensor([3.0, -1.0]))
        tensor([ 3., -1.])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return ``default_mask``."""
        return default_mask


class CustomFromMask(BasePruningMethod):
    """Method with a given mask.

    Args:
        mask: Zeros and ones, of the parameter's shape.

    Example:
        >>> tt.nn.utils.prune.CustomFromMask(tt.tensor([1, 0])).prune(tt.tensor([3.0, 1.0]))
        tensor([3., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of both masks."""
        given: Any = self.mask
        if given.shape != default_mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {given.shape}"
            )
        return default_mask * given.to(dtype=default_mask.dtype)  # type: ignore[no-any-return]


class _Unstructured(BasePruningMethod):
    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def _scores(self, t: Any) -> Any:
        """Return a score for each element; those with the lowest are pruned."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Set ``default_mask`` to 0 at the lowest scores."""
        count = _count_pruned(self.amount, t.numel())
        mask: Any = default_mask.clone()
        if count:
            mask.view(-1)[self._scores(t).reshape(-1).topk(count, largest=False).indices] = 0
        return mask  # type: ignore[no-any-return]


class RandomUnstructured(_Unstructured):
    """Method that prunes random elements.

    Args:
        amount: Number of them, an int, or fraction of them, a float.

    Example:
        >>> tt.nn.utils.prune.RandomUnstructured(0.5).prune(tt.ones(4)).sum()
        tensor(2.)
    """

    def _scores(self, t: Any) -> Any:
        return -rand_like(t)


class L1Unstructured(_Unstructured):
    """Method that prunes the elements nearest to 0.

    Args:
        amount: Number of them, an int, or fraction of them, a float.

    Example:
        >>> tt.nn.utils.prune.L1Unstructured(1).prune(tt.tensor([3.0, 1.0, -2.0]))
        tensor([ 3.,  0., -2.])
    """

    def _scores(self, t: Any) -> Any:
        return t.abs()


class _Structured(BasePruningMethod):
    amount: float
    dim: int

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _scores(self, t: Any) -> Any:
        """Return a score for each channel; those with the lowest are pruned."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Set ``default_mask`` to 0 in the channels with the lowest scores."""
        if t.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found "
                f"tensor of shape {t.shape} with {t.ndim} dims"
            )
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        channels = t.shape[self.dim]
        count = _count_pruned(self.amount, channels)
        if not count:
            return default_mask
        remaining = self._scores(t).topk(channels - count).indices
        mask: Any = zeros_like(t)
        mask[(slice(None),) * (self.dim % t.ndim) + (remaining,)] = 1
        return mask * default_mask.to(dtype=mask.dtype)  # type: ignore[no-any-return]


class RandomStructured(_Structured):
    """Method that prunes random channels.

    Args:
        amount: Number of them, an int, or fraction of them, a float.
        dim: Dimension of the channels. Default: -1.

    Example:
        >>> tt.nn.utils.prune.RandomStructured(1, dim=0).prune(tt.ones(3, 2)).sum()
        tensor(4.)
    """

    def _scores(self, t: Any) -> Any:
        return rand(t.shape[self.dim])


class LnStructured(_Structured):
    """Method that prunes the channels with the smallest norms.

    Args:
        amount: Number of them, an int, or fraction of them, a float.
        n: Order of the norm; ``"fro"`` and None mean 2.
        dim: Dimension of the channels. Default: -1.

    Example:
        >>> tt.nn.utils.prune.LnStructured(1, n=2, dim=0).prune(tt.tensor([[3.0, 4.0], [1.0, 1.0]]))
        tensor([[3., 4.],
                [0., 0.]])
    """

    def __init__(self, amount: float, n: float | str | None, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Any) -> Any:
        n = 2.0 if self.n is None or self.n == "fro" else float(self.n)
        return p_norm(t, n, [d for d in range(t.ndim) if d != self.dim % t.ndim])


@short
def find_hook(module: Module, name: str) -> tuple[int | None, BasePruningMethod | None]:
    """Return key and hook of the forward pre-hook that prunes a parameter, or ``(None, None)``."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None, None


def _check_amount(amount: Any) -> None:
    """Check that an amount is a number of elements, or a fraction in [0, 1]."""
    if not isinstance(amount, int | float):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0.0, 1.0] or a non-negative "
            "integer"
        )


def _count_pruned(amount: float, size: int) -> int:
    """Return the number of elements or channels to prune.

    Args:
        amount: The number, or as a float the fraction of ``size``.
        size: The number of all elements or channels.
    """
    if isinstance(amount, float):
        return round(amount * size)
    if amount > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={size}"
        )
    return amount
