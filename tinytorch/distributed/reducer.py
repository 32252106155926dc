"""Gradients in buckets that are reduced over all ranks while the backward pass goes on.

Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..autograd.nodes import node_of
from ..autograd.views import edge_of
from ..core.tensor import Tensor
from .collectives import all_reduce
from ..ops.create.factories import zeros

__all__ = ["GradBucket"]

_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that your module has parameters that were not used in producing loss. You can "
    "enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by making "
    "sure all `forward` function outputs participate in calculating loss. Parameters which did not "
    "receive grad: "
)


class Bucket:
    """Gradients that are reduced together.

    Args:
        indices: Which parameters' they are.
        params: All parameters.

    Attributes:
        flat: Their memory.
        views: A part of it for each, of the parameter's shape.
        missing: How many gradients have still to come.
        work: What reduces them, once they are there.
    """

    def __init__(self, indices: list[int], params: Sequence[Tensor]) -> None:
        self.indices = indices
        first = params[indices[0]]
        sizes = [params[index].numel() for index in indices]
        self.flat = zeros(sum(sizes), dtype=first.dtype, device=first.device)
        parts = self.flat.split(sizes)
        self.views = [
            part.view(params[index].shape) for index, part in zip(indices, parts, strict=True)
        ]
        self.missing = len(indices)
        self.work: Any = None


class GradBucket:
    """What a communication hook gets: the gradients of a bucket.

    Args:
        index: Which bucket it is, in the order of their reduction.
        bucket: The bucket.
        params: Its parameters.
        last: Whether it is the last one.

    Example:
        >>> import tinytorch as tt
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

    def __init__(self, index: int, bucket: Bucket, params: list[Tensor], last: bool) -> None:
        self._index, self._bucket, self._params, self._last = index, bucket, params, last

    def index(self) -> int:
        """Which bucket it is."""
        return self._index

    def buffer(self) -> Tensor:
        """All its gradients behind one another, of this rank, not yet divided."""
        return self._bucket.flat

    def set_buffer(self, buffer: Tensor) -> None:
        """Write over its gradients."""
        self._bucket.flat.copy_(buffer)

    def gradients(self) -> list[Tensor]:
        """Its gradients, as parts of the buffer."""
        return list(self._bucket.views)

    def parameters(self) -> list[Tensor]:
        """The parameters they are of.

        Example:
            >>> import tinytorch as tt
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
        """Whether no other bucket follows."""
        return self._last


class Reducer:
    """Reduces the gradients of parameters in the backward passes that are announced.

    Args:
        names: Of the parameters, for errors.
        params: The parameters, in the order in which the module lists them.
        group: Among whom.
        caps: Bytes of the first bucket, and of the others.
        find_unused: Whether passes may leave parameters out.
        as_views: Whether ``grad`` becomes a part of its bucket.
    """

    def __init__(
        self,
        names: Sequence[str],
        params: Sequence[Tensor],
        group: Any,
        caps: tuple[int, int],
        find_unused: bool,
        as_views: bool,
    ) -> None:
        self.names, self.params, self.group = list(names), list(params), group
        self.find_unused, self.as_views = find_unused, as_views
        self.buckets = _divided(self.params, caps)
        self._place = {
            index: (bucket, slot)
            for bucket in self.buckets
            for slot, index in enumerate(bucket.indices)
        }
        self._hooks = [
            param.register_post_accumulate_grad_hook(self._hook(index))
            for index, param in enumerate(self.params)
        ]
        self.hook: tuple[Any, Callable[..., Any]] | None = None
        #: How many ranks' gradients there are, whose mean is taken.
        self.divisor = group.size()
        self.expecting = False
        self._came: set[int] = set()
        self._unused: set[int] = set()
        self._launched = 0

    def _hook(self, index: int) -> Callable[[Tensor], None]:
        def arrived(param: Tensor) -> None:
            if self.expecting:
                self._mark(index, param.grad)

        return arrived

    def close(self) -> None:
        """Take the hooks away."""
        for handle in self._hooks:
            handle.remove()

    # -- a pass ------------------------------------------------------------------------------

    def prepare(self, outputs: Any) -> None:
        """Announce a backward pass.

        Args:
            outputs: What it begins from.

        Raises:
            RuntimeError: If the one before left gradients out.
        """
        if self.expecting:
            self._refuse()
        self.expecting = True
        self._came, self._unused, self._launched = set(), set(), 0
        for bucket in self.buckets:
            bucket.missing, bucket.work = len(bucket.indices), None
        if self.find_unused:
            used = _leaves(outputs)
            self._unused = {i for i, param in enumerate(self.params) if id(param) not in used}
            if len(self._unused) == len(self.params):
                self._unused = set()  # of no graph at all there will be no pass
                self.expecting = False
            for index in self._unused:
                self._mark(index, self.params[index].grad)

    def check_finished(self) -> None:
        """Refuse to begin anew while gradients are missing.

        Raises:
            RuntimeError: Then.
        """
        if self.expecting:
            self._refuse()

    def _refuse(self) -> None:
        missing = [n for i, n in enumerate(self.names) if i not in self._came]
        raise RuntimeError(_UNFINISHED + ", ".join(missing))

    def _mark(self, index: int, grad: Tensor | None) -> None:
        """Take a gradient into its bucket; reduce those that are full, in their order."""
        if index in self._came:
            raise RuntimeError(
                "Expected to mark a variable ready only once. Parameter with name "
                f"{self.names[index]} has been marked as ready twice."
            )
        self._came.add(index)
        bucket, slot = self._place[index]
        self._fill(bucket.views[slot], grad)
        bucket.missing -= 1
        self._launch()
        if len(self._came) == len(self.params):
            self._finish()

    def _fill(self, view: Tensor, grad: Tensor | None) -> None:
        scale = 1.0 if self.hook else 1.0 / self.divisor
        if grad is None:
            view._data[...] = 0
        elif grad._data is not view._data or scale != 1.0:
            view._xp.multiply(grad._data, scale, out=view._data)

    def _launch(self) -> None:
        """Start what can be: in the order of the buckets, which is that of the other ranks."""
        while self._launched < len(self.buckets):
            bucket = self.buckets[self._launched]
            if bucket.missing:
                break
            bucket.work = self._reduce(self._launched, bucket)
            self._launched += 1
        for bucket in self.buckets[: self._launched]:
            if self.hook is None:
                bucket.work.is_completed()  # moves it on: MPI works while it is called

    def _reduce(self, number: int, bucket: Bucket) -> Any:
        if self.hook is None:
            return all_reduce(bucket.flat, group=self.group, async_op=True)
        state, hook = self.hook
        params = [self.params[index] for index in bucket.indices]
        return hook(state, GradBucket(number, bucket, params, bucket is self.buckets[-1]))

    def _finish(self) -> None:
        """Wait for all buckets, and give the parameters their gradients."""
        self.expecting = False
        used = self._used()
        for bucket in self.buckets:
            found = bucket.work.wait()
            if self.hook is not None:
                bucket.flat.copy_(found[0] if isinstance(found, list) else found)
            for index, view in zip(bucket.indices, bucket.views, strict=True):
                if index in used:
                    self._give(self.params[index], view)

    def _used(self) -> set[int]:
        """The parameters that some rank's pass came to."""
        if not self.find_unused:
            return set(range(len(self.params)))
        first = self.params[0]
        counts = zeros(len(self.params), device=first.device)
        for index in range(len(self.params)):
            counts[index] = float(index not in self._unused)
        all_reduce(counts, group=self.group)
        return {index for index, count in enumerate(counts.tolist()) if count}

    def _give(self, param: Tensor, view: Tensor) -> None:
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

    # -- a pass of others --------------------------------------------------------------------

    def shadow(self) -> None:
        """Give zeros, while others have gradients."""
        if self.hook is not None:
            self._shadow_hook()
        else:
            works = []
            for bucket in self.buckets:
                bucket.flat.zero_()
                works.append(all_reduce(bucket.flat, group=self.group, async_op=True))
            for work in works:
                work.wait()  # type: ignore[union-attr]
        if self.find_unused:
            all_reduce(zeros(len(self.params), device=self.params[0].device), group=self.group)

    def _shadow_hook(self) -> None:
        for number, bucket in enumerate(self.buckets):
            bucket.flat.zero_()
            self._reduce(number, bucket).wait()


def _divided(params: Sequence[Tensor], caps: tuple[int, int]) -> list[Bucket]:
    """Buckets of neighbours of one dtype and device, from the last parameter to the first."""
    made: list[Bucket] = []
    waiting: dict[Any, list[int]] = {}
    nbytes: dict[Any, int] = {}
    for index in reversed(range(len(params))):
        param = params[index]
        key = param.dtype, str(param.device)
        waiting.setdefault(key, []).append(index)
        nbytes[key] = nbytes.get(key, 0) + param.nbytes
        if nbytes[key] >= caps[bool(made)]:
            made.append(Bucket(waiting.pop(key), params))
            del nbytes[key]
    made.extend(Bucket(indices, params) for indices in waiting.values())
    return made


def _leaves(outputs: Any) -> set[int]:
    """The ``id`` of the leaves that gradients of the outputs come to."""
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
