"""Iteration over a module's parameters, buffers and submodules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self, cast

from ...core.tensor import Tensor
from ...graph.engine import zero_in_place
from ..parameter import Parameter
from .members import Members

if TYPE_CHECKING:
    from . import Module


class Traversal(Members):
    """Iteration and look-up by name, and methods that apply to every submodule."""

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each once.

        Args:
            recurse: Whether to include those of submodules. Default: True.

        Example:
            >>> [p.shape for p in tt.nn.Linear(2, 3).parameters()]
            [tinytorch.Size([3, 2]), tinytorch.Size([3])]
        """
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over ``(name, parameter)``.

        Args:
            prefix: Prefix of every name; a dot is added. Default: ``""``.
            recurse: Whether to include those of submodules. Default: True.
            remove_duplicate: Whether a shared parameter is yielded once, under its first name.
                Default: True.

        Example:
            >>> [name for name, _ in tt.nn.Sequential(tt.nn.Linear(2, 3)).named_parameters()]
            ['0.weight', '0.bias']
        """
        return self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once.

        Args:
            recurse: Whether to include those of submodules. Default: True.

        Example:
            >>> net = tt.nn.Module()
            >>> net.register_buffer("mean", tt.zeros(2))
            >>> list(net.buffers())
            [tensor([0., 0.])]
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over ``(name, buffer)``.

        Args:
            prefix: Prefix of every name; a dot is added. Default: ``""``.
            recurse: Whether to include those of submodules. Default: True.
            remove_duplicate: Whether a shared buffer is yielded once. Default: True.

        Example:
            >>> net = tt.nn.Module()
            >>> net.register_buffer("mean", tt.zeros(2))
            >>> list(net.named_buffers(prefix="net"))
            [('net.mean', tensor([0., 0.]))]
        """
        return self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def _named_members(
        self,
        get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Yield the dotted names and members that ``get_members_fn`` returns for each module."""
        seen: set[Any] = set()
        root = cast("Module", self)
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, root)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield _join(path, name), member

    def children(self) -> Iterator[Module]:
        """Iterate over the immediate submodules, each once.

        Example:
            >>> list(tt.nn.Sequential(tt.nn.ReLU(), tt.nn.Tanh()).children())
            [ReLU(), Tanh()]
        """
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over ``(name, submodule)`` of the immediate submodules, each once.

        Example:
            >>> list(tt.nn.Sequential(tt.nn.ReLU(), tt.nn.Tanh()).named_children())
            [('0', ReLU()), ('1', Tanh())]
        """
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Iterate over the module itself and all its submodules, each once.

        Args:
            remove_duplicate: Whether a shared module is yielded once. Default: True.

        Example:
            >>> [type(module).__name__ for module in tt.nn.Sequential(tt.nn.ReLU()).modules()]
            ['Sequential', 'ReLU']
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over ``(dotted name, module)``: the module itself, then all its submodules.

        Args:
            memo: Modules to omit, to which the visited ones are added. Default: none.
            prefix: Prefix of every name; a dot is added. Default: ``""``.
            remove_duplicate: Whether a shared module is yielded once, under its first name.
                Default: True.

        Example:
            >>> from tinytorch import nn
            >>> [name for name, _ in nn.Sequential(nn.Sequential(nn.ReLU())).named_modules()]
            ['', '0', '0.0']
        """
        memo = set() if memo is None else memo
        module = cast("Module", self)
        if module in memo:
            return
        if remove_duplicate:
            memo.add(module)
        yield prefix, module
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, _join(prefix, name), remove_duplicate)

    def get_submodule(self, target: str) -> Module:
        """Look up a submodule by its dotted name.

        Args:
            target: Path from this module, such as ``"encoder.layers.0"``; "" is the module itself.

        Raises:
            AttributeError: If a part of the path does not exist, or is not a Module.

        Example:
            >>> tt.nn.Sequential(tt.nn.Sequential(tt.nn.ReLU())).get_submodule("0.0")
            ReLU()
        """
        module = cast("Module", self)
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Members):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Set the submodule with a dotted name to ``module``.

        Args:
            target: Path from this module, such as ``"encoder.layers.0"``.
            module: The new submodule.
            strict: Whether the name has to exist already. Default: False.

        Raises:
            ValueError: If ``target`` is empty or ``module`` is not a Module.
            AttributeError: If the path does not lead to a Module.

        Example:
            >>> net = tt.nn.Sequential(tt.nn.Linear(2, 2), tt.nn.ReLU())
            >>> net.set_submodule("1", tt.nn.Tanh())
            >>> net[1]
            Tanh()
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if not isinstance(getattr(parent, name, module), Members):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Look up a parameter by its dotted name.

        Raises:
            AttributeError: If there is none.

        Example:
            >>> tt.nn.Sequential(tt.nn.Linear(2, 3)).get_parameter("0.weight").shape
            tinytorch.Size([3, 2])
        """
        param = self._get_member(target)
        if not isinstance(param, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """Look up a buffer by its dotted name.

        Raises:
            AttributeError: If there is none.

        Example:
            >>> net = tt.nn.Module()
            >>> net.register_buffer("mean", tt.zeros(2))
            >>> net.get_buffer("mean")
            tensor([0., 0.])
        """
        buffer = self._get_member(target)
        path, _, name = target.rpartition(".")
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return cast(Tensor, buffer)

    def _get_member(self, target: str) -> Any:
        """Look up an attribute by its dotted name."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        return getattr(module, name)

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call ``fn`` on every submodule, innermost first, then on the module itself.

        Args:
            fn: Function of a module, for example one that initializes its parameters.

        Returns:
            The module.

        Example:
            >>> from tinytorch import nn
            >>> _ = nn.Sequential(nn.ReLU()).apply(lambda module: print(type(module).__name__))
            ReLU
            Sequential
        """
        for module in self.children():
            module.apply(fn)
        fn(cast("Module", self))
        return self

    def train(self, mode: bool = True) -> Self:
        """Set training mode for the module and all its submodules.

        Args:
            mode: True for training mode, False for evaluation mode. Default: True.

        Returns:
            The module.

        Raises:
            ValueError: If ``mode`` is not a bool.

        Example:
            >>> tt.nn.Dropout().train(False).training
            False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode: ``train(False)``.

        Example:
            >>> tt.nn.Dropout().eval()(tt.ones(3))
            tensor([1., 1., 1.])
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients are computed for the parameters.

        Args:
            requires_grad: Whether to compute them; False freezes the module. Default: True.

        Returns:
            The module.

        Example:
            >>> tt.nn.Linear(2, 3).requires_grad_(False).weight.requires_grad
            False
        """
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of the parameters.

        Args:
            set_to_none: True sets them to None, False fills them with zeros. Default: True.

        Example:
            >>> layer = tt.nn.Linear(2, 1)
            >>> layer(tt.ones(2)).sum().backward()
            >>> layer.zero_grad()
            >>> layer.weight.grad is None
            True
        """
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                zero_in_place(grad)


def _join(prefix: str, name: str) -> str:
    """Join two parts of a dotted name; the first may be empty."""
    return f"{prefix}.{name}" if prefix else name
