"""Tensor: an array, where it came from, and whether its gradient is wanted.

Operations attach themselves as methods (see ``dispatch.op``); here is what is no operation: the
storage, the autograd state, conversions to Python and NumPy, and protocols.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from .. import dtypes
from ..backends.base import Array, Backend
from ..backends.storage import deep_copy
from ..graph.grad_fn import GraphNode, face_of
from ..graph.hooks import LeafHooks, RemovableHandle, add_hook
from ..graph.inference import UNSETTLED, check_update, check_wanted, mark, settle, take_after
from ..graph.late_bound import ABOVE
from ..graph.nodes import Slot, node_of, warn_of_no_grad
from ..graph.views import VIEW, cannot_refresh, edge_of, leave_views, requires_grad
from ..state import when_inference
from ..warnings import warn
from . import pickling, torch_function
from .size import ElementCount as ElementCount
from .size import Size as Size
from .storage import RefusedAttribute, Storage, attributes, check_grad
from .torch_function import asked_first

__all__ = ["ElementCount", "Size", "Tensor"]

if TYPE_CHECKING:
    from ..backends import BackendLike


_T = TypeVar("_T")


class Making:
    """How tensors are made here and now: another way while some code is in inference mode.

    Attributes:
        version: The version of a new tensor: None, or ``UNSETTLED`` where ``mark`` is to be asked
            whether it is one of inference mode or of ``vmap``.
    """

    __slots__ = ("version",)
    version: list[int] | None

    def __init__(self) -> None:
        self.switch(False)

    def switch(self, marks: bool) -> None:
        """Mark the tensors that are made from now on, or no longer."""
        self.version = UNSETTLED if marks else None


making: Making = Making()
when_inference.append(making.switch)


@asked_first
class Tensor(Storage):
    """A multi-dimensional array with torch's semantics, on the backend it was made on.

    ``Tensor(sequence)`` makes a float tensor, ``Tensor(2, 3)`` an uninitialised one of that
    shape, as in torch; ``tt.tensor`` and the creation functions are the usual way.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    __slots__ = ("__dict__", "__weakref__")

    # Set on an instance only where there are any.
    _backward_hooks: dict[int, Any] | None = None
    _post_accumulate_grad_hooks: dict[int, Any] | None = None
    _retains_grad: bool = False
    _keeping: RemovableHandle | None = None
    _inference: bool = False
    _mapped: int = 0
    #: Whether its elements wait in memory for a function; see ``core.lazy_bits``.
    _waits: ClassVar[bool] = False
    #: Of a base: ``(version, view operation)`` for each change of its shape, the last one first.
    _reshaped: tuple[Any, ...] = ()
    _shift: int = 0  # how far it lies from the first example of that vmap
    #: The memory that the array is a part of, where no tensor that this is a view of has it all.
    _whole: Array | None = None
    #: NumPy's operators give way to ours: ``ndarray * tensor`` is a tensor.
    __array_priority__: ClassVar[int] = 1000

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__torch_dispatch__" in vars(cls):
            warn(f"{cls.__name__}.__torch_dispatch__ will not be called by tinytorch.")
        if not torch_function.is_willing(cls):
            torch_function.never_ask(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        return cast(Self, share(cls, ABOVE.legacy_source(*args, **kwargs)))

    @staticmethod
    def _make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Any:
        return share(cls, data).requires_grad_(require_grad)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """What ``func`` gives for plain tensors, with tensors among its results made ``cls``."""
        return torch_function.answer(Tensor, cls, func, types, args, kwargs or {})

    # -- autograd --------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor; only floating and complex leaves may set it."""
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
        """The gradient that backward passes have left here, or None."""
        if self._grad is None and self._node is not None and not self._retains_grad:
            warn_of_no_grad()
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for gradients of this leaf (or no longer); returns the tensor itself.

        Raises:
            RuntimeError: For integer or bool tensors, and for switching off a non-leaf.
            TypeError: If ``requires_grad`` is no bool.

        Example:
            >>> import tinytorch as tt
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
            check_wanted(self)
        if self._rg is VIEW:
            self._wanted = requires_grad
        else:
            self._rg = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user rather than recorded as a result."""
        edge_of(self)  # brings the node of a view up to date
        return self._node is None

    @property
    def grad_dtype(self) -> dtypes.dtype:
        """The dtype of a leaf's gradient, which is its own; another one cannot be set here."""
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
        """The node that recorded this tensor; None for a leaf."""
        edge_of(self)  # brings the node of a view up to date
        return face_of(self._node)

    @property
    def output_nr(self) -> int:
        """Which result of ``grad_fn`` this is."""
        edge = edge_of(self)
        return edge.index if isinstance(edge, Slot) else 0

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
        """Note that the memory was changed in place."""
        if self._vc is UNSETTLED and settle(self):
            check_update(self)
        elif self._vc is None:
            self._vc = [1]
        else:
            self._vc[0] += 1

    def _origin(self) -> str:
        """`, which is output 0 of X,`: how error texts name the tensor."""
        node = node_of(edge_of(self))
        return "" if node is None else f", which is output {self.output_nr} of {node.name()},"

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode, or is a view of one that was.

        Example:
            >>> import tinytorch as tt
            >>> with tt.inference_mode():
            ...     x = tt.ones(2)
            >>> x.is_inference(), x.clone().is_inference()
            (True, False)
        """
        return self._inference

    @property
    def name(self) -> None:
        """None, as of PyTorch's tensors outside of Caffe2."""

    @property
    def volatile(self) -> bool:
        """False: PyTorch has no such tensors since 2018."""
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
        """Add the gradient of this tensor to ``grad`` of every leaf it was computed from.

        Args:
            gradient: Gradient of something with respect to this tensor, of its shape;
                needed unless it has one element, where the default is 1.
            retain_graph: Keep what the graph saved, so that it can be walked again; the
                default is ``create_graph``.
            create_graph: Record the backward pass, for higher derivatives.
            inputs: Leaves (or one) to accumulate into; the default is all of them.

        Raises:
            RuntimeError: If the tensor does not require grad, is no scalar and ``gradient``
                is missing, or the graph was freed by an earlier pass.

        Example:
            >>> import tinytorch as tt
            >>> x = tt.tensor(3.0, requires_grad=True)
            >>> (x ** 2).backward()
            >>> x.grad
            tensor(6.)
        """
        ABOVE.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """The same memory, cut off from the graph.

        Example:
            >>> import tinytorch as tt
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
        """Cut this tensor off from the graph, in place.

        Example:
            >>> import tinytorch as tt
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
        """The same memory without history; changes to it are not seen by autograd."""
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
        if self._base is None and self._vc and value._data.shape != self._data.shape:
            leave_views(self)
        self._take_array(value)
        if self._inference is not value._inference:
            take_after(self, value)

    def _memory(self) -> Array:
        """The array whose memory this is a part of: its own, that of what it shows, ..."""
        tensor: Tensor = self
        while tensor._base is not None:
            if len(tensor._vc or ()) > 1:
                return tensor._vc[1]  # type: ignore[index]
            tensor = tensor._base
        return tensor._data if tensor._whole is None else tensor._whole

    def _shared_as(self, cls: type[Tensor]) -> Tensor:
        out = wrap(self._data, self._xp, cls)
        if self._base is not None or self._whole is not None:
            out._whole = self._memory()
        if self._vc is UNSETTLED or out._vc is UNSETTLED:
            take_after(out, self)
        return out

    def _take_array(self, source: Tensor) -> None:
        if source._waits:
            source = wrap(source._data, source._xp)
        whole = source._memory()
        self._data, self._xp = source._data, source._xp
        if whole is not source._data or self._whole is not None:
            self._whole = whole

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` when this tensor's gradient is complete; it may return another.

        Returns:
            A handle whose ``remove()`` takes the hook away.

        Raises:
            RuntimeError: If the tensor does not require grad.

        Example:
            >>> import tinytorch as tt
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
        if self._retains_grad and self._keeping is not None:  # keeps what other hooks leave
            keep = edge.hooks.pop(self._keeping.id, None)
            if keep is not None:
                edge.hooks[self._keeping.id] = keep
        return handle

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(leaf)`` after a backward pass has added to this leaf's ``grad``.

        Example:
            >>> import tinytorch as tt
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
        """Keep ``grad`` of this non-leaf, too, in the passes to come.

        Example:
            >>> import tinytorch as tt
            >>> x = tt.ones(2, requires_grad=True)
            >>> y = x * 2
            >>> y.retain_grad()
            >>> y.sum().backward()
            >>> y.grad
            tensor([1., 1.])
        """
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._retains_grad or cannot_refresh(self) or self.is_leaf:
            return
        self._retains_grad = True
        self._retain_from_here()

    def _retain_from_here(self) -> None:
        """Keep the gradient where this tensor is in the graph now, and no longer where it was."""
        import weakref

        me = weakref.ref(self)

        def keep(grad: Any) -> None:
            tensor: Any = me()
            if tensor is not None:
                tensor.grad = grad.clone() if tensor.grad is None else tensor.grad.add(grad)

        if self._keeping is not None:
            self._keeping.remove()
        self._keeping = self.register_hook(keep)

    __hash__ = object.__hash__

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from .printing import tensor_repr

        return tensor_repr(self, tensor_contents=tensor_contents)

    def __format__(self, spec: str) -> str:
        if not self._data.shape and type(self) is Tensor and self._xp.device_type != "meta":
            return format(self.item(), spec)
        return object.__format__(self, spec)  # refuses a format of numbers, as torch does

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
        # Tensor itself goes without a name: where tinytorch stands in for PyTorch that is torch's.
        cls = None if type(self) is Tensor else type(self)
        place = pickling.placed(self)
        call: Callable[..., Tensor]
        given: tuple[Any, ...]
        if place is None:
            call, given = rebuild, (self._xp.to_numpy(self._data), pickling.spelled(self._xp))
        else:
            call, given = rebuild_part, (*place, self.dtype)
        own = attributes(self)
        reduced = call, (cls, *given, self.requires_grad)
        return (*reduced, own) if own else reduced


torch_function.never_ask(Tensor)


def blank(cls: type[_T]) -> Iterator[_T]:
    """Instances of a class without end, nothing in their slots.

    ``next`` of it is ``object.__new__(cls)`` without the tuple that Python makes for such a call.
    """
    return cast("Iterator[_T]", itertools.starmap(object.__new__, itertools.repeat((cls,))))


tensors: Iterator[Tensor] = blank(Tensor)


def wrap(data: Array, xp: Backend, cls: type[Tensor] = Tensor) -> Tensor:
    """A tensor around a raw array, without history."""
    out = next(tensors) if cls is Tensor else object.__new__(cls)
    out._data = data
    out._xp = xp
    out._rg = False
    out._node = None
    out._grad = None
    out._base = None
    out._vc = version = making.version
    if version is not None:
        mark(out)
    return out


def rebuild(
    cls: type[Tensor] | None, host: Any, backend: BackendLike, requires_grad: bool
) -> Tensor:
    """Unpickle: the tensor on the backend, and the device, it was saved from."""
    memory = pickling.restored(host, backend)
    out = wrap(memory.flat, memory.xp, cls or Tensor)
    out._rg = requires_grad
    return out


def rebuild_part(
    cls: type[Tensor] | None, memory: pickling.Memory, start: int, shape: Any, strides: Any,
    dtype: Any, requires_grad: bool,
) -> Tensor:  # fmt: skip
    """Unpickle: the tensor as the part of its memory that it was."""
    array, whole = pickling.part(memory, dtype, start, shape, strides)
    out = wrap(array, memory.xp, cls or Tensor)
    if array.size != whole.size:
        out._whole = whole
    out._rg = requires_grad
    return out


def without_the_rest(tensor: Tensor) -> Tensor:
    """``tensor``; if it is a part of a larger memory, a copy, with which that need not travel."""
    if tensor._memory().nbytes == tensor._data.nbytes:
        return tensor
    cls = Tensor if tensor._waits else type(tensor)
    copy = wrap(tensor._xp.array(tensor._data), tensor._xp, cls)
    copy._rg = tensor.requires_grad
    vars(copy).update(attributes(tensor))
    return copy


def share(cls: type[Tensor], source: Tensor) -> Tensor:
    """A tensor of class ``cls`` on the memory of ``source``, without its history."""
    return source._shared_as(cls)


#: Every class of them.
HOLDERS: set[type] = set()


class Holder:
    """An object around a Tensor, which is its memory and its place in the graph.

    Attributes:
        _tensor: The Tensor. It may change: an array whose shape is assigned to gets a view.
    """

    __slots__ = ("_tensor", "__weakref__")
    _tensor: Tensor

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        HOLDERS.add(cls)

    @classmethod
    def around(cls, tensor: Any) -> Self:
        """The object that holds ``tensor``."""
        found = object.__new__(cls)
        found._tensor = tensor
        return found


def held(value: Any) -> Any:
    """The Tensor that ``value`` holds; what holds none, as it is."""
    return value._tensor if isinstance(value, Holder) else value
