"""Tensor: an array, its history, and whether it requires a gradient.

Operations register themselves as methods (see ``dispatch.op``). This file has the members that are
not operations: storage, autograd state, conversions to Python and NumPy, and protocols.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from .. import dtypes
from ..backends.base import Array, Backend
from ..backends.storage import deep_copy
from ..graph.grad_fn import GraphNode, grad_fn_of
from ..graph.hooks import LeafHooks, RemovableHandle, add_hook
from ..graph.inference import (
    UNSETTLED,
    check_update,
    check_can_require_grad,
    mark,
    settle_version,
    copy_marks,
)
from ..graph.late_bound import LATE_BOUND
from ..graph.nodes import NodeOutput, node_of, warn_of_no_grad
from ..graph.views import VIEW, Reshapes, edge_of, has_lost_grad_fn, requires_grad
from ..state import when_inference
from ..warnings import warn
from . import pickling, torch_function
from .size import ElementCount as ElementCount
from .size import Size as Size
from .storage import RefusedAttribute, Storage, attributes, check_grad
from .torch_function import wrap_members

__all__ = ["ElementCount", "Size", "Tensor"]

if TYPE_CHECKING:
    from ..backends import BackendLike


_T = TypeVar("_T")


class CreationState:
    """Initial version of new tensors, which depends on inference mode and ``vmap``.

    Attributes:
        version: The version of a new tensor: None, or ``UNSETTLED`` while ``mark`` has to find out
            whether the tensor belongs to inference mode or to ``vmap``.
    """

    __slots__ = ("version",)
    version: list[int] | None

    def __init__(self) -> None:
        self.switch(False)

    def switch(self, marks: bool) -> None:
        """Start or stop marking new tensors."""
        self.version = UNSETTLED if marks else None


creation: CreationState = CreationState()
when_inference.append(creation.switch)


@wrap_members
class Tensor(Storage):
    """Multi-dimensional array with PyTorch's semantics, on the backend that created it.

    ``Tensor(sequence)`` makes a float tensor, ``Tensor(2, 3)`` an uninitialized one of that
    shape, as in PyTorch; ``tt.tensor`` and the creation functions are the usual way.

    Example:
        >>> x = tt.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    __slots__ = ("__dict__", "__weakref__")

    # Defaults; an attribute is set on an instance once it differs.
    _backward_hooks: dict[int, Any] | None = None
    _post_accumulate_grad_hooks: dict[int, Any] | None = None
    _retains_grad: bool = False
    _keeping: RemovableHandle | None = None
    _inference: bool = False
    _mapped: int = 0
    #: Whether it is lazily conjugated or negated; see ``core.lazy_bits``.
    _is_lazy: ClassVar[bool] = False
    #: Of a base: a view operation for each change of its shape in place.
    _reshaped: Reshapes = Reshapes()
    _shift: int = 0  # offset from the first example of that vmap
    #: The memory that the array is a part of, if no base of this tensor has the whole of it.
    _whole: Array | None = None
    #: Gives our operators precedence over NumPy's: ``ndarray * tensor`` is a tensor.
    __array_priority__: ClassVar[int] = 1000

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__torch_dispatch__" in vars(cls):
            warn(f"{cls.__name__}.__torch_dispatch__ will not be called by tinytorch.")
        if not torch_function.has_override(cls):
            torch_function.exclude_class(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        return cast(Self, share(cls, LATE_BOUND.legacy_source(*args, **kwargs)))

    @staticmethod
    def _make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Any:
        return share(cls, data).requires_grad_(require_grad)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call ``func`` without overrides of subclasses; tensors of its result become ``cls``."""
        return torch_function.default_torch_function(Tensor, cls, func, types, args, kwargs or {})

    # -- autograd --------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor; it can be set for floating and complex leaves."""
        rg = self._rg
        return requires_grad(self) if rg is VIEW else rg

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and not self.is_leaf:
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        self.requires_grad_(value)

    @property
    def grad(self) -> Tensor | None:
        """Gradient that backward passes have accumulated in this tensor, or None."""
        if self._grad is None and self._node is not None and not self._retains_grad:
            warn_of_no_grad()
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
            if self._xp.traces:
                self._xp.check_state(self._data)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients of this leaf are computed; return the tensor itself.

        Raises:
            RuntimeError: For integer or bool tensors, and if a non-leaf is switched off.
            TypeError: If ``requires_grad`` is not a bool.

        Example:
            >>> tt.zeros(2).requires_grad_()
            tensor([0., 0.], requires_grad=True)
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                + type(requires_grad).__name__
            )
        if not requires_grad and self._node is not None:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use "
                "a computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if requires_grad and self._data.dtype.kind not in "fcV":
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients, "
                f"got {self.dtype}"
            )
        if requires_grad and self._inference:
            check_can_require_grad(self)
        if self._rg is VIEW:
            self._own_rg = requires_grad
        else:
            self._rg = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor is not the recorded result of an operation."""
        edge_of(self)  # updates the node of a view
        return self._node is None

    @property
    def grad_dtype(self) -> dtypes.dtype:
        """Dtype of a leaf's gradient, which is the leaf's own; no other one can be set."""
        if not self.is_leaf:
            raise RefusedAttribute("grad_dtype can only be accessed on leaf tensors.")
        return self.dtype

    @grad_dtype.setter
    def grad_dtype(self, value: dtypes.dtype | None) -> None:
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value != self.dtype:
            raise NotImplementedError(
                f"grad_dtype: the gradient of a {self.dtype} tensor is {self.dtype} here; "
                f"got {value}"
            )

    @property
    def grad_fn(self) -> GraphNode | None:
        """Node that recorded this tensor; None for a leaf."""
        edge_of(self)  # updates the node of a view
        return grad_fn_of(self._node)

    @property
    def output_nr(self) -> int:
        """Index of this tensor among the results of ``grad_fn``."""
        edge = edge_of(self)
        return edge.index if isinstance(edge, NodeOutput) else 0

    @property
    def retains_grad(self) -> bool:
        """Whether this non-leaf keeps its gradient."""
        return self._retains_grad and not self.is_leaf

    @property
    def _version(self) -> int:
        if self._inference:
            raise RefusedAttribute("Inference tensors do not track version counter.")
        return 0 if self._vc is None else self._vc[0]

    def _bump(self) -> None:
        """Increase the version of the memory after a change in place."""
        if self._vc is UNSETTLED and settle_version(self):
            check_update(self)
        elif self._vc is None:
            self._vc = [1]
        else:
            self._vc[0] += 1

    def _origin(self) -> str:
        """Text of the tensor's origin for errors: `, which is output 0 of X,`."""
        node = node_of(edge_of(self))
        return "" if node is None else f", which is output {self.output_nr} of {node.name()},"

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode, or is a view of one that was.

        Example:
            >>> with tt.inference_mode():
            ...     x = tt.ones(2)
            >>> x.is_inference(), x.clone().is_inference()
            (True, False)
        """
        return self._inference

    @property
    def name(self) -> None:
        """None, as for PyTorch's tensors outside of Caffe2."""

    @property
    def volatile(self) -> bool:
        """False: PyTorch has had no such tensors since 2018."""
        warn("volatile was removed (Variable.volatile is always False)")
        return False

    @property
    def _cdata(self) -> int:
        """Number that identifies the tensor while it lives."""
        return id(self)

    @property
    def _grad_fn(self) -> Any:
        return self.grad_fn

    @property
    def _has_symbolic_sizes_strides(self) -> bool:
        return False

    def _is_zerotensor(self) -> bool:
        return False

    def _is_all_true(self: Any) -> Any:
        return self.all()

    def _is_any_true(self: Any) -> Any:
        return self.any()

    def _conj(self: Any) -> Any:
        return self.conj()

    def _conj_physical(self: Any) -> Any:
        return self.conj_physical()

    def _is_view(self) -> bool:
        return self._base is not None and not self._inference

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Accumulate the gradient of this tensor into ``grad`` of the leaves it was computed from.

        Args:
            gradient: Gradient with respect to this tensor, of its shape; needed unless the tensor
                has one element, for which the default is 1.
            retain_graph: Whether to keep the saved tensors of the graph for another backward pass;
                the default is ``create_graph``.
            create_graph: Whether to record the backward pass, for higher derivatives.
            inputs: Leaves, or one leaf, to accumulate into; the default is all of them.

        Raises:
            RuntimeError: If the tensor does not require grad, has several elements and ``gradient``
                is missing, or the graph was freed by an earlier pass.

        Example:
            >>> x = tt.tensor(3.0, requires_grad=True)
            >>> (x ** 2).backward()
            >>> x.grad
            tensor(6.)
        """
        LATE_BOUND.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """Return a tensor on the same memory that is detached from the graph.

        Example:
            >>> x = tt.ones(2, requires_grad=True)
            >>> (x * 2).detach()
            tensor([2., 2.])
        """
        out = self._shared_as(Tensor)
        version = self._vc
        if version is None:
            self._vc = out._vc = [0]
        elif version is not UNSETTLED:
            out._vc = version
        return out

    def detach_(self) -> Self:
        """Detach this tensor from the graph, in place.

        Example:
            >>> x = tt.ones(2, requires_grad=True) * 2
            >>> x.detach_()
            tensor([2., 2.])
        """
        if self._base is not None and not self._inference:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set "
                "as True, gradients are views of DDP buckets, and hence detach_() cannot be called."
            )
        self._node = None
        self._rg = False
        return self

    @property
    def data(self) -> Tensor:
        """Tensor on the same memory without history; autograd does not notice changes to it."""
        return share(Tensor, self)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if value._data.dtype.kind not in "fcV" and self.requires_grad:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        if self._base is None and self._vc and self._vc is not UNSETTLED:
            LATE_BOUND.replace_data(self, value)
        else:
            self._take_array(value)
        if self._inference is not value._inference:
            copy_marks(self, value)

    def _memory(self) -> Array:
        """Return the array that covers the whole memory of this tensor.

        It is the tensor's own array, that of its base, or ``_whole``.
        """
        tensor: Tensor = self
        while tensor._base is not None:
            if len(tensor._vc or ()) > 1:  # the base was given other data: see ``Storage._vc``
                return tensor._vc[1]  # type: ignore[index]
            tensor = tensor._base
        return tensor._data if tensor._whole is None else tensor._whole

    def _shared_as(self, cls: type[Tensor]) -> Tensor:
        """Return a tensor of class ``cls`` on the same memory, without history."""
        out = wrap(self._data, self._xp, cls)
        if self._base is not None or self._whole is not None:
            out._whole = self._memory()
        if self._vc is UNSETTLED or out._vc is UNSETTLED:
            copy_marks(out, self)
        return out

    def _take_array(self, source: Tensor) -> None:
        """Use the array and the backend of ``source`` from now on, and so share its memory."""
        if source._is_lazy:
            source = wrap(source._data, source._xp)
        whole = source._memory()
        self._data, self._xp = source._data, source._xp
        if whole is not source._data or self._whole is not None:
            self._whole = whole

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Register ``hook(grad)``, called when this tensor's gradient is complete.

        The hook may return another gradient in its place.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Raises:
            RuntimeError: If the tensor does not require grad.

        Example:
            >>> x = tt.ones(2, requires_grad=True)
            >>> handle = x.register_hook(lambda grad: grad / 10)
            >>> x.sum().backward()
            >>> x.grad
            tensor([0.1000, 0.1000])
        """
        edge = edge_of(self)
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if edge is self:
            if self._backward_hooks is None:
                self._backward_hooks = LeafHooks()
            return add_hook(self._backward_hooks, hook)
        if edge.hooks is None:
            edge.hooks = {}
        handle = add_hook(edge.hooks, hook)
        if self._retains_grad and self._keeping is not None:  # runs after the other hooks
            keep = edge.hooks.pop(self._keeping.id, None)
            if keep is not None:
                edge.hooks[self._keeping.id] = keep
        return handle

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Register ``hook(leaf)``, called after a backward pass has added to this leaf's ``grad``.

        Example:
            >>> x = tt.ones(2, requires_grad=True)
            >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
            >>> x.sum().backward()
            tensor([1., 1.])
        """
        if not (self.requires_grad and self.is_leaf):
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        if self._post_accumulate_grad_hooks is None:
            self._post_accumulate_grad_hooks = LeafHooks()
        return add_hook(self._post_accumulate_grad_hooks, hook)

    def retain_grad(self) -> None:
        """Keep ``grad`` of this non-leaf in later backward passes, as for a leaf.

        Example:
            >>> x = tt.ones(2, requires_grad=True)
            >>> y = x * 2
            >>> y.retain_grad()
            >>> y.sum().backward()
            >>> y.grad
            tensor([1., 1.])
        """
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._retains_grad or has_lost_grad_fn(self) or self.is_leaf:
            return
        self._retains_grad = True
        self._retain_from_here()

    def _retain_from_here(self) -> None:
        """Move the hook that keeps the gradient to the tensor's present node in the graph."""
        import weakref

        reference = weakref.ref(self)  # a strong one would be a cycle

        def accumulate_grad(grad: Any) -> None:
            tensor: Any = reference()
            if tensor is not None:
                tensor.grad = grad.clone() if tensor.grad is None else tensor.grad.add(grad)

        if self._keeping is not None:
            self._keeping.remove()
        self._keeping = self.register_hook(accumulate_grad) if self.requires_grad else None

    __hash__ = object.__hash__

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from .printing import tensor_repr

        return tensor_repr(self, tensor_contents=tensor_contents)

    def __format__(self, spec: str) -> str:
        if not self._data.shape and type(self) is Tensor and self._xp.device_type != "meta":
            return format(self.item(), spec)
        return object.__format__(self, spec)  # raises for a format of numbers, as in PyTorch

    # -- copies and pickles ----------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment."
            )
        array, whole = deep_copy(self._xp, self._data, memo)
        out = wrap(array, self._xp, type(self))
        if whole is not None:
            out._whole = whole
        out._rg = self.requires_grad
        memo[id(self)] = out
        if self.grad is not None:
            out.grad = self.grad.__deepcopy__(memo)
        vars(out).update(deepcopy(attributes(self), memo))
        return out

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # Tensor is pickled without its name: that is torch.Tensor where this package is torch.
        cls = None if type(self) is Tensor else type(self)
        place = pickling.locate(self)
        call: Callable[..., Tensor]
        given: tuple[Any, ...]
        if place is None:
            call, given = rebuild, (self._xp.to_numpy(self._data), pickling.backend_spec(self._xp))
        else:
            call, given = rebuild_part, (*place, self.dtype)
        own = attributes(self)
        reduced = call, (cls, *given, self.requires_grad)
        return (*reduced, own) if own else reduced


torch_function.exclude_class(Tensor)


def blank(cls: type[_T]) -> Iterator[_T]:
    """Infinite iterator of uninitialized instances of a class.

    ``next`` of it is ``object.__new__(cls)`` without the tuple that Python makes for such a call.
    """
    return cast("Iterator[_T]", itertools.starmap(object.__new__, itertools.repeat((cls,))))


tensors: Iterator[Tensor] = blank(Tensor)


def wrap(data: Array, xp: Backend, cls: type[Tensor] = Tensor) -> Tensor:
    """Wrap a raw array in a tensor without history."""
    out = next(tensors) if cls is Tensor else object.__new__(cls)
    out._data = data
    out._xp = xp
    out._rg = False
    out._node = None
    out._grad = None
    out._base = None
    out._vc = version = creation.version
    if version is not None:
        mark(out)
    return out


def rebuild(
    cls: type[Tensor] | None, host: Any, backend: BackendLike, requires_grad: bool
) -> Tensor:
    """Unpickle a tensor, on the backend and device where it was."""
    memory = pickling.restore(host, backend)
    out = wrap(memory.flat, memory.xp, cls or Tensor)
    out._rg = requires_grad
    return out


def rebuild_part(
    cls: type[Tensor] | None, memory: pickling.Memory, start: int, shape: Any, strides: Any,
    dtype: Any, requires_grad: bool,
) -> Tensor:  # fmt: skip
    """Unpickle a tensor as a part of its memory."""
    array, whole = pickling.part(memory, dtype, start, shape, strides)
    out = wrap(array, memory.xp, cls or Tensor)
    if array.size != whole.size:
        out._whole = whole
    out._rg = requires_grad
    return out


def copy_part(tensor: Tensor) -> Tensor:
    """Return ``tensor``, or a copy of it if it is a part of a larger memory.

    The copy is pickled without the rest of that memory.
    """
    if tensor._memory().nbytes == tensor._data.nbytes:
        return tensor
    cls = Tensor if tensor._is_lazy else type(tensor)
    copy = wrap(tensor._xp.array(tensor._data), tensor._xp, cls)
    copy._rg = tensor.requires_grad
    vars(copy).update(attributes(tensor))
    return copy


def share(cls: type[Tensor], source: Tensor) -> Tensor:
    """Return a tensor of class ``cls`` on the memory of ``source``, without its history."""
    return source._shared_as(cls)


#: All subclasses of ``Holder``.
HOLDERS: set[type] = set()


class Holder:
    """Object that is not a Tensor but holds one, which is its memory and its place in the graph.

    Such objects are arrays with another library's semantics.

    Attributes:
        _tensor: The Tensor. It may be replaced: an array whose shape is assigned gets a view.
    """

    __slots__ = ("_tensor", "__weakref__")
    _tensor: Tensor

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        HOLDERS.add(cls)

    @classmethod
    def around(cls, tensor: Any) -> Self:
        """Make the object that holds ``tensor``."""
        found = object.__new__(cls)
        found._tensor = tensor
        return found


def unwrap_holder(value: Any) -> Any:
    """Return the Tensor that ``value`` holds, or ``value`` if it is not a holder."""
    return value._tensor if isinstance(value, Holder) else value
