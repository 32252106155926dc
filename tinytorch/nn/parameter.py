"""Parameters and buffers: tensors that a module registers when they become an attribute."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.tensor import Size, Tensor, share
from ..core.torch_function import is_excluded, disabled_torch_function
from ..dtypes import dtype as DType
from ..ops.create.factories import empty

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class _Parameters(type):
    """Metaclass of Parameter: tensors with the attribute ``_is_param`` are instances, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        if cls is Parameter and isinstance(instance, Tensor):
            return super().__instancecheck__(instance) or getattr(instance, "_is_param", False)
        return super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_Parameters):
    """Tensor that a module trains.

    As an attribute of a Module it appears in ``parameters()`` and ``state_dict()``.

    Args:
        data: Tensor with the values, whose memory is shared. Default: an empty tensor.
        requires_grad: Whether gradients are computed for it. Default: True.

    Raises:
        TypeError: If ``data`` is not a Tensor.
        RuntimeError: If it requires grad and its dtype is neither floating point nor complex.

    Example:
        >>> tt.nn.Parameter(tt.zeros(2))
        Parameter containing:
        tensor([0., 0.], requires_grad=True)
    """

    __torch_function__: ClassVar[Any] = staticmethod(disabled_torch_function)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if cls is Parameter and isinstance(data, Tensor) and not is_excluded(type(data)):
            param: Parameter = _mark_as_parameter(data, requires_grad)
            return param
        param = _share_data(cls, data)
        param.requires_grad_(requires_grad)
        return param

    def __repr__(self) -> str:  # type: ignore[override]
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            data: Any = self.data.clone()
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]  # type: ignore[no-any-return]


class Buffer(Tensor):
    """Tensor that belongs to a module's state but is not trained.

    As an attribute of a Module it is registered as by ``register_buffer``.

    Args:
        data: Tensor with the values, whose memory is shared. Default: an empty tensor.
        persistent: Whether ``state_dict`` contains it. Default: True.

    Raises:
        TypeError: If ``data`` is not a Tensor.

    Example:
        >>> net = tt.nn.Module()
        >>> net.mean = tt.nn.Buffer(tt.zeros(2))
        >>> list(net.state_dict())
        ['mean']
    """

    persistent: bool
    _is_buffer: ClassVar[bool] = True
    __torch_function__: ClassVar[Any] = staticmethod(disabled_torch_function)

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        buffer: Buffer = _share_data(cls, data)
        buffer.requires_grad_(data is not None and data.requires_grad)
        buffer.persistent = persistent
        return buffer

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        buffer: Any = super().__deepcopy__(memo)
        buffer.persistent = self.persistent
        return buffer  # type: ignore[no-any-return]


class Uninitialized:
    """Base class of tensors without a shape, which a lazy module has until its first call.

    Attributes:
        cls_to_become: Class of the tensor after ``materialize``.
    """

    cls_to_become: type[Tensor]

    def materialize(self, shape: Any, device: Any = None, dtype: DType | None = None) -> None:
        """Become an uninitialized tensor of this shape and of the class ``cls_to_become``.

        Args:
            shape: Shape of the tensor.
            device: Device of the tensor. Default: the one given to the constructor.
            dtype: Dtype of the tensor. Default: the one given to the constructor.

        Example:
            >>> weight = tt.nn.UninitializedParameter()
            >>> weight.materialize((2, 3))
            >>> weight.shape
            tinytorch.Size([2, 3])
        """
        tensor: Any = self
        tensor.__class__ = self.cls_to_become
        device = tensor.device if device is None else device
        tensor.data = empty(shape, dtype=dtype or tensor.dtype, device=device)

    @property
    def shape(self) -> Size:
        """Shape of the tensor, which it does not have yet.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing "
            "their attributes."
        )

    def numel(self) -> int:
        """Number of elements, which is not known yet.

        Raises:
            ValueError: Always.
        """
        raise ValueError(
            "Attempted to use an uninitialized parameter in numel: call `forward` once, or "
            "`materialize`, before its elements are counted."
        )

    nelement = numel


class UninitializedParameter(Uninitialized, Parameter):  # type: ignore[override]
    """Parameter whose shape is not known yet.

    Args:
        requires_grad: Whether gradients are computed for it. Default: True.
        device: Device of the future tensor. Default: the active backend's device.
        dtype: Dtype of the future tensor. Default: the default dtype.

    Example:
        >>> tt.nn.UninitializedParameter()
        <UninitializedParameter>
    """

    cls_to_become: type[Tensor] = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: DType | None = None
    ) -> UninitializedParameter:
        param: Any = Parameter.__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)
        return param  # type: ignore[no-any-return]

    def __repr__(self) -> str:  # type: ignore[override]
        return "<UninitializedParameter>"

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedParameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]  # type: ignore[no-any-return]


class UninitializedBuffer(Uninitialized, Buffer):  # type: ignore[override]
    """Buffer whose shape is not known yet.

    Args:
        requires_grad: Whether gradients are computed for it. Default: False.
        device: Device of the future tensor. Default: the active backend's device.
        dtype: Dtype of the future tensor. Default: the default dtype.
        persistent: Whether ``state_dict`` contains it. Default: True.

    Example:
        >>> tt.nn.UninitializedBuffer()
        <UninitializedBuffer>
    """

    cls_to_become: type[Tensor] = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        data = empty(0, device=device, dtype=dtype)
        buffer: Any = Buffer.__new__(cls, data, persistent=persistent)
        buffer.requires_grad_(requires_grad)
        return buffer  # type: ignore[no-any-return]

    def __repr__(self) -> str:  # type: ignore[override]
        return "<UninitializedBuffer>"


def is_lazy(param: object) -> bool:
    """Whether a parameter or buffer is uninitialized: without a shape.

    Example:
        >>> from tinytorch.nn.parameter import is_lazy
        >>> is_lazy(tt.nn.UninitializedParameter())
        True
    """
    return isinstance(param, Uninitialized)


def _mark_as_parameter(data: Tensor, requires_grad: bool) -> Any:
    """Return ``data`` detached, of its own class, marked so that it is a Parameter, too."""
    out: Any = data.detach().requires_grad_(requires_grad)
    if type(out) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
            f"detach() returns an instance of the same type, but return type {type(out).__name__} "
            "was found instead."
        )
    vars(out)["_is_param"] = True
    return out


def _share_data(cls: type[Any], data: Tensor | None) -> Any:
    """Return an instance of ``cls`` with the memory of ``data``, or empty if that is None."""
    if data is None:
        data = empty(0)
    if not isinstance(data, Tensor):
        raise TypeError(f"{cls.__name__}: expected data to be a Tensor, got {type(data).__name__}")
    return share(cls, data)
