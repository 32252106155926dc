"""Reduction of gradients over the ranks, in buckets, during the backward pass.

Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 2020.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..graph.engine import call_after_backward
from ..graph.nodes import node_of
from ..graph.views import edge_of
from ..ops.create.factories import zeros
from .collectives import all_reduce

__all__ = ["GradBucket"]

_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that your module has parameters that were not used in producing loss. You can "
    "fix this "
)
_FIND_UNUSED = (
    "by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`, and "
)


class ReducerBucket:
    """Gradients that are reduced together, in one flat tensor.

    Args:
        indices: Indices of the bucket's parameters.
        params: All parameters.

    Attributes:
        flat: The flat tensor.
        views: Views of it, one for each parameter, of the parameter's shape.
        missing: Number of gradients that have not been computed yet in this pass.
        work: Work or future of the reduction, or None before it has started.
    """

    def __init__(self, indices: list[int], params: Sequence[Tensor]) -> None:
        self.indices = indices
        first = params[indices[0]]
        sizes = [params[index].numel() for index in indices]
        self.flat: Tensor = zeros(sum(sizes), dtype=first.dtype, device=first.device)
        parts = self.flat.split(sizes)
        self.views: list[Tensor] = [
            part.view(params[index].shape) for index, part in zip(indices, parts, strict=True)
        ]
        self.missing: int = len(indices)
        self.work: Any = None


class GradBucket:
    """Argument of a communication hook: the gradients of a bucket on this rank.

    Args:
        index: Index of the bucket, in the order of reduction.
        bucket: The bucket.
        params: The bucket's parameters.
        last: Whether the bucket is the last one.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> def hook(state, bucket):
        ...     bucket.set_buffer(bucket.buffer() * 2)
        ...     print(bucket.index(), bucket.is_last(), bucket.gradients())
        ...     work = tt.distributed.all_reduce(bucket.buffer(), async_op=True)
        ...     return work.get_future()
        >>> model.register_comm_hook(None, hook)
        >>> model(tt.ones(1, 1)).sum().backward()
        0 True [tensor([2.]), tensor([[2.]])]
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(self, index: int, bucket: ReducerBucket, params: list[Tensor], last: bool) -> None:
        self._index, self._bucket, self._params, self._last = index, bucket, params, last

    def index(self) -> int:
        """Index of the bucket, in the order of reduction."""
        return self._index

    def buffer(self) -> Tensor:
        """The gradients of this rank in one flat tensor, not divided by the number of ranks."""
        return self._bucket.flat

    def set_buffer(self, buffer: Tensor) -> None:
        """Copy a tensor into the buffer."""
        self._bucket.flat.copy_(buffer)

    def gradients(self) -> list[Tensor]:
        """The gradients, as views of the buffer."""
        return list(self._bucket.views)

    def parameters(self) -> list[Tensor]:
        """The parameters to which the gradients belong.

        Example:
            >>> tt.distributed.init_process_group("mpi")
            >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1, bias=False))
            >>> def hook(state, bucket):
            ...     print(len(bucket.parameters()))
            ...     return tt.distributed.all_reduce(bucket.buffer(), async_op=True).get_future()
            >>> model.register_comm_hook(None, hook)
            >>> model(tt.ones(1, 1)).sum().backward()
            1
            >>> tt.distributed.destroy_process_group()
        """
        return list(self._params)

    def is_last(self) -> bool:
        """Whether this is the last bucket of the pass."""
        return self._last


class Reducer:
    """Reduces the gradients of parameters in backward passes whose forward pass called `prepare`.

    A reduction begins with the first gradient of the backward pass, not with the forward pass, so
    that a forward pass without a backward pass does not leave an unfinished reduction.

    Args:
        names: Names of the parameters, for errors.
        params: The parameters, in the order in which the module lists them.
        group: The process group.
        caps: Largest size in bytes of the first bucket, the second, and so on; the last is that of
            all other buckets.
        find_unused: Whether a pass may leave parameters unused.
        as_views: Whether ``grad`` becomes a view of its bucket.
        static: Whether all passes use the same parameters as the first one.
        skip_unused: Whether this rank leaves the gradients of parameters that it does not use as
            they are, even if other ranks use them.
    """

    def __init__(
        self, names: Sequence[str], params: Sequence[Tensor], group: Any, caps: tuple[int, ...],
        find_unused: bool, as_views: bool, static: bool = False, skip_unused: bool = False,
    ) -> None:  # fmt: skip
        self.names: list[str] = list(names)
        self.params: list[Tensor] = list(params)
        self.group: Any = group
        self.find_unused: bool = find_unused
        self.as_views: bool = as_views
        self.static: bool = static
        self.skip_unused: bool = skip_unused
        self.buckets: list[ReducerBucket] = _divide(self.params, caps)
        #: For the index of a parameter: its bucket, and its index in the bucket.
        self._slots = {
            index: (bucket, slot)
            for bucket in self.buckets
            for slot, index in enumerate(bucket.indices)
        }
        self._hooks = [
            param.register_post_accumulate_grad_hook(self._make_hook(index))
            for index, param in enumerate(self.params)
        ]
        self.hook: tuple[Any, Callable[..., Any]] | None = None
        #: Number of ranks whose gradients are averaged.
        self.divisor: Any = group.size()
        #: Whether the gradients of the next backward pass are to be reduced.
        self.expecting: bool = False
        #: Indices of parameters whose gradients are ready in this pass, or that it does not use.
        self._ready: set[int] = set()
        #: Indices of parameters that the graph of the forward pass does not use.
        self._unused: set[int] = set()
        #: Number of buckets whose reduction has started in this pass, or is skipped.
        self._launched = 0
        #: Indices of parameters that got a gradient on this rank since the last reduction.
        self._used: set[int] = set()
        #: In a static graph: indices of parameters that any rank uses; None in the first pass.
        self._used_somewhere: set[int] | None = None
        #: In a static graph: number of calls of each parameter's hook in a pass, and calls left.
        self._calls: Counter[int] = Counter()
        self._calls_left: Counter[int] = Counter()

    def _make_hook(self, index: int) -> Callable[[Tensor], None]:
        """Hook of the parameter with an index, called after its gradient is accumulated."""

        def on_gradient(param: Tensor) -> None:
            self._used.add(index)
            if self.static and self._used_somewhere is None:
                self._count_first_pass(index)
            elif self.expecting:
                self._on_gradient(index)

        return on_gradient

    def close(self) -> None:
        """Remove the hooks from the parameters."""
        for handle in self._hooks:
            handle.remove()

    # -- a pass ------------------------------------------------------------------------------

    def prepare(self, outputs: Any) -> None:
        """Prepare for a backward pass, after a forward pass.

        Args:
            outputs: Result of the forward pass, whose graph is searched for unused parameters.
        """
        self.expecting = True
        self._begin_pass()
        if self.find_unused and not self.static:
            used = _leaves(outputs)
            self._unused = {i for i, param in enumerate(self.params) if id(param) not in used}

    def _begin_pass(self) -> None:
        """Reset the state of the last backward pass: ready gradients, calls and buckets."""
        self._ready, self._launched = set(), 0
        self._calls_left = self._calls.copy()
        for bucket in self.buckets:
            bucket.missing, bucket.work = len(bucket.indices), None

    def check_finished(self) -> None:
        """Check that the reduction of the last backward pass is complete.

        Raises:
            RuntimeError: If gradients are missing.
        """
        if not self._ready:
            return
        missing = [i for i in range(len(self.params)) if i not in self._ready]
        text = _UNFINISHED if self.find_unused else _UNFINISHED + _FIND_UNUSED
        raise RuntimeError(
            f"{text}by making sure all `forward` function outputs participate in calculating loss."
            f"\nParameter indices which did not receive grad for rank {self.group.rank()}: "
            f"{' '.join(map(str, missing))}, parameters which did not receive grad: "
            f"{', '.join(self.names[i] for i in missing)}"
        )

    def _count_first_pass(self, index: int) -> None:
        """Count a call of a parameter's hook in the first backward pass of a static graph.

        The first call registers the reduction of all gradients at the end of the pass.
        """
        if not self._calls:
            call_after_backward(self._reduce_first_pass)
        self._calls[index] += 1

    def _reduce_first_pass(self) -> None:
        """Reduce the gradients at the end of the first pass of a static graph."""
        if not self.expecting:
            self._calls.clear()
            raise RuntimeError(
                "DistributedDataParallel(static_graph=True): the forward pass of the first "
                "backward pass was in no_sync(), but the first pass has to reduce gradients"
            )
        self._unused = {i for i in range(len(self.params)) if i not in self._calls}
        for index in range(len(self.params)):
            self._mark(index)

    def _on_gradient(self, index: int) -> None:
        """Mark a gradient as ready; in a static graph, only at the last call of its hook.

        The first gradient of a pass marks the unused parameters, too.
        """
        if not self._ready:
            for unused in sorted(self._unused):
                self._mark(unused)
        if self.static:
            if self._calls_left[index] <= 0:
                raise RuntimeError(
                    "Your training graph has changed in this iteration, e.g., one parameter is "
                    "used in first iteration, but then got unused in the second iteration. This "
                    "is not compatible with static_graph set to True. Parameter: "
                    f"{self.names[index]}"
                )
            self._calls_left[index] -= 1
            if self._calls_left[index]:
                return
        self._mark(index)

    def _mark(self, index: int) -> None:
        """Mark a gradient as ready: copy it into its bucket, and reduce complete buckets.

        Args:
            index: Index of the parameter.

        Raises:
            RuntimeError: If it has been marked before in this pass.
        """
        if index in self._ready:
            raise RuntimeError(
                "Expected to mark a variable ready only once. This error is caused by one of the "
                "following reasons: 1) Use of a module parameter outside the `forward` function. "
                "2) Reused parameters in multiple reentrant backward passes. Parameter with name "
                f"{self.names[index]} has been marked as ready twice."
            )
        self._ready.add(index)
        bucket, slot = self._slots[index]
        self._fill(self.params[index], bucket.views[slot])
        bucket.missing -= 1
        self._launch()
        if len(self._ready) == len(self.params):
            self._finish()

    def _fill(self, param: Tensor, view: Tensor) -> None:
        """Copy a gradient into its bucket, divided by the number of ranks unless a hook is set.

        Args:
            param: The parameter; without a gradient, zeros are written.
            view: The parameter's view of the bucket; ``as_views`` makes it the gradient.
        """
        scale = 1.0 if self.hook else 1.0 / self.divisor
        grad = param.grad
        if grad is None:
            view._data[...] = 0
            return
        if grad._data is not view._data or scale != 1.0:
            view._xp.multiply(grad._data, scale, out=view._data)
        if self.as_views and grad is not view:
            param.grad = view

    def _launch(self) -> None:
        """Start to reduce complete buckets, in their order, which is the same on all ranks.

        A bucket whose gradients are complete waits for the buckets before it.
        """
        while self._launched < len(self.buckets):
            bucket = self.buckets[self._launched]
            if bucket.missing:
                break
            if not (self.skip_unused and self._unused.issuperset(bucket.indices)):
                bucket.work = self._reduce(self._launched, bucket)
            self._launched += 1
        for bucket in self.buckets[: self._launched]:
            if self.hook is None and bucket.work is not None:
                bucket.work.is_completed()  # progresses it: MPI works during its calls

    def _reduce(self, number: int, bucket: ReducerBucket) -> Any:
        """Start to reduce a bucket; return a work, or the future of the communication hook.

        ``number`` is the index of the bucket.
        """
        if self.hook is None:
            return all_reduce(bucket.flat, group=self.group, async_op=True)
        state, hook = self.hook
        params = [self.params[index] for index in bucket.indices]
        return hook(state, GradBucket(number, bucket, params, bucket is self.buckets[-1]))

    def _finish(self) -> None:
        """Wait for all buckets, and set the parameters' gradients."""
        self.expecting = False
        used = self._find_used()
        self._ready, self._used = set(), set()
        for bucket in self.buckets:
            if bucket.work is None:
                continue
            found = bucket.work.wait()
            if self.hook is not None:
                bucket.flat.copy_(found[0] if isinstance(found, list) else found)
            for index, view in zip(bucket.indices, bucket.views, strict=True):
                if index in used:
                    self._set_grad(self.params[index], view)

    def _find_used(self) -> set[int]:
        """Indices of the parameters that any rank has used since the last reduction.

        These are all parameters unless a pass may leave some unused; only this rank's with
        ``skip_unused``. Otherwise the ranks compare by an ``all_reduce``; in a static graph once.
        """
        if self._used_somewhere is not None:
            return self._used_somewhere
        if not self.find_unused and not self.static:
            return set(range(len(self.params)))
        used = self._used
        if not self.skip_unused:
            counts = zeros(len(self.params), device=self.params[0].device)
            for index in used:
                counts[index] = 1.0
            all_reduce(counts, group=self.group)
            used = {index for index, count in enumerate(counts.tolist()) if count}
        if self.static:
            self._used_somewhere = used
        return used

    def _set_grad(self, param: Tensor, view: Tensor) -> None:
        """Set the gradient of a parameter to its view of a bucket, or to a copy of that."""
        if self.as_views:
            if param._grad is not view:
                param.grad = view
            return
        grad = param._grad
        if grad is None:
            param.grad = view.clone()
            return
        grad._data[...] = view._data
        grad._bump()

    # -- inputs of unequal number --------------------------------------------------------------

    def shadow(self) -> None:
        """Take part with zeros in the reductions of a pass of other ranks, in ``Join``."""
        if self.hook is not None:
            self._shadow_hook()
        else:
            works = []
            for bucket in self.buckets:
                bucket.flat.zero_()
                works.append(all_reduce(bucket.flat, group=self.group, async_op=True))
            for work in works:
                work.wait()  # type: ignore[union-attr]
        self._find_used()

    def _shadow_hook(self) -> None:
        """Call the hook with zeros for each bucket, one after the other."""
        for number, bucket in enumerate(self.buckets):
            bucket.flat.zero_()
            self._reduce(number, bucket).wait()


def _divide(params: Sequence[Tensor], caps: tuple[int, ...]) -> list[ReducerBucket]:
    """Divide parameters into buckets of one dtype and device, from the last to the first.

    The last parameters come first because a backward pass computes their gradients first.

    Args:
        params: The parameters.
        caps: Sizes in bytes at which a bucket is complete; see ``Reducer``.
    """
    buckets: list[ReducerBucket] = []
    pending: dict[Any, list[int]] = {}
    nbytes: dict[Any, int] = {}
    for index in reversed(range(len(params))):
        param = params[index]
        key = param.dtype, str(param.device)
        pending.setdefault(key, []).append(index)
        nbytes[key] = nbytes.get(key, 0) + param.nbytes
        if nbytes[key] >= caps[min(len(buckets), len(caps) - 1)]:
            buckets.append(ReducerBucket(pending.pop(key), params))
            del nbytes[key]
    buckets.extend(ReducerBucket(indices, params) for indices in pending.values())
    return buckets


def _leaves(outputs: Any) -> set[int]:
    """The ``id`` of each leaf tensor in the autograd graph of the outputs."""
    stack = [edge_of(tensor) for tensor in _tensors(outputs)]
    leaves: set[int] = set()
    seen: set[int] = set()
    while stack:
        edge = stack.pop()
        node = node_of(edge)
        if node is None:
            leaves.add(id(edge))
        elif node.seq not in seen:
            seen.add(node.seq)
            stack.extend(each for each in node.edges if each is not None)
    return leaves


def _tensors(outputs: Any) -> Iterable[Tensor]:
    """Yield the tensors that require grad in nested containers and dataclasses."""
    if isinstance(outputs, Tensor):
        if outputs.requires_grad:
            yield outputs
    elif isinstance(outputs, dict):
        yield from _tensors(list(outputs.values()))
    elif isinstance(outputs, (list, tuple, set)):
        for each in outputs:
            yield from _tensors(each)
    elif hasattr(outputs, "__dataclass_fields__"):
        yield from _tensors(list(vars(outputs).values()))
