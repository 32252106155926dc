"""Look-up of settings, and the entering and leaving of scopes.

A setting has up to three values, of which the first one that exists counts. The value of the
innermost live **scope** is in a ContextVar, so that tasks have separate values. The **thread's**
choice is in a ``threading.local``, so that it outlives the task that made it (a notebook runs each
cell in a task of its own). The last one is a default for the process.

A slot's ContextVar holds a linked stack of frames that are never changed, because copies of a
context in tasks and threads share them. An entry (one ``with`` block, or one call of a decorated
function) owns the frames that it pushed and removes only those, wherever in the stack they are: a
generator that is suspended inside a scope may outlive scopes around it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Token
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from .variable import Variable, collecting

if TYPE_CHECKING:
    from ..backends import Backend
    from ..dtypes import dtype

_T = TypeVar("_T")

#: Attribute of a Thread object with the backend that it inherits.
INHERITED = "_tinytorch_backend"


class _ThreadState(threading.local):
    """Choices of a thread; None where it has made none."""

    def __init__(self) -> None:
        # Runs in each thread at its first use of this object, hence in the new thread.
        inherited = getattr(threading.current_thread(), INHERITED, None)
        self.backend: Backend | Inherited[Backend] | None = inherited
        self.grad: bool | None = None
        self.inference: bool | None = None
        self.dtype: dtype | None = None


thread: _ThreadState = _ThreadState()


class Frame(Generic[_T]):
    """Value on the stack of a slot."""

    __slots__ = ("entry", "parent", "value")

    def __init__(self, value: _T, entry: Entry, parent: Frame[_T] | None) -> None:
        self.value: _T = value
        self.entry: Entry = entry
        self.parent: Frame[_T] | None = parent


class Inherited(Generic[_T]):
    """Values that a thread inherits from the scopes in which it was started.

    Each value holds until its scope exits. The object is in the place of the thread's choice, and a
    choice of the thread replaces it.

    Attributes:
        frames: The scopes that were open when the thread was started, innermost first.
        choice: The choice of the thread that started it, which has no end.
    """

    __slots__ = ("choice", "frames")

    def __init__(self, frames: tuple[Frame[_T], ...], choice: _T | None) -> None:
        self.frames: tuple[Frame[_T], ...] = frames
        self.choice: _T | None = choice

    def value(self) -> _T | None:
        """Value of the innermost scope that is still open, else the choice."""
        return next((frame.value for frame in self.frames if frame.entry.open), self.choice)


class Slot(Generic[_T]):
    """Stack of scopes of a setting, and the name of the thread's choice.

    Attributes:
        var: The innermost frame of the current context.
        name: The attribute of ``thread`` that holds the thread's choice.
        by_thread: Whether any thread has ever made a choice. Until then look-ups skip ``thread``,
            which takes as long as the rest of the look-up.
    """

    __slots__ = ("by_thread", "name", "var")

    def __init__(self, name: str) -> None:
        self.var: Variable[Frame[_T] | None] = Variable(name, None)
        self.name: str = name
        self.by_thread: bool = False

    def top(self) -> Frame[_T] | None:
        """Return the innermost live frame of this context; drop dead frames above it."""
        first = frame = self.var.get()
        while frame is not None and not frame.entry.live:
            frame = frame.parent
        if frame is not first:
            self.var.set(frame)
        return frame

    def explicit(self) -> _T | None:
        """Return the scope's value, else the thread's choice, else None."""
        frame = self.top()
        if frame is not None:
            return frame.value
        found: _T | Inherited[_T] | None = getattr(thread, self.name)
        return found.value() if isinstance(found, Inherited) else found

    def inherit(self) -> Inherited[_T]:
        """Return the values that a new thread inherits."""
        frames, frame = [], self.top()
        while frame is not None:
            frames.append(frame)
            frame = frame.parent
        own: _T | Inherited[_T] | None = getattr(thread, self.name)
        if isinstance(own, Inherited):
            frames += own.frames
            own = own.choice
        return Inherited(tuple(frame for frame in frames if frame.entry.open), own)

    def assign(self, value: _T) -> Callable[[], None]:
        """Replace the innermost scope's value or, outside of scopes, this thread's choice.

        Returns:
            A function that undoes the change.
        """
        frame = self.top()
        if frame is not None:
            self.var.set(Frame(value, frame.entry, frame.parent))
            return lambda: self._put_back(frame)
        before = getattr(thread, self.name)
        self.choose(value)
        return lambda: setattr(thread, self.name, before)

    def choose(self, value: _T | None) -> None:
        """Set this thread's choice, also inside a scope; None resets it."""
        self.by_thread = True
        setattr(thread, self.name, value)

    def revert(self) -> None:
        """Restore the innermost scope's initial value or, outside of scopes, reset the choice."""
        frame = self.top()
        if frame is None:
            setattr(thread, self.name, None)
        else:
            self._put_back(Frame(frame.entry.value(self), frame.entry, frame.parent))

    def _put_back(self, frame: Frame[_T]) -> None:
        """Replace the innermost live frame by ``frame``, if both are of the same entry."""
        top = self.top()
        if top is not None and top.entry is frame.entry:
            self.var.set(frame)

    def remove(self, entry: Entry, token: Token[Frame[_T] | None]) -> bool:
        """Remove the entry's frame from this context's stack.

        Args:
            entry: The entry whose block is left.
            token: The token with which the entry set ``var``.

        Returns:
            False if the frame is (also) elsewhere: this is not the context in which it was
            entered, or the frame is stowed in a suspended generator.
        """
        top = self.var.get()
        if top is not None and top.entry is entry:
            rest, found = top.parent, True
        else:
            rest, found = _remove_entry(top, entry)
        try:
            self.var.reset(token)  # the only test that distinguishes this context from a copy
        except ValueError:
            return False
        if self.var.get() is not rest:
            self.var.set(rest)
        return found


def _remove_entry(top: Frame[_T] | None, entry: Entry) -> tuple[Frame[_T] | None, bool]:
    """Return the stack without the entry's frame, and whether the frame was there.

    The frames above it are copied, since other contexts share them; those below it are the same.
    """
    above = []
    frame = top
    while frame is not None and frame.entry is not entry:
        above.append(frame)
        frame = frame.parent
    if frame is None:
        return top, False
    rest = frame.parent
    for each in reversed(above):
        rest = Frame(each.value, each.entry, rest)
    return rest, True


Settings: TypeAlias = "tuple[tuple[Slot[Any], Any], ...]"


class Entry:
    """One pass through a scope, with the frames that it pushed.

    Attributes:
        live: Becomes False when the block has been left and its frames could not be removed,
            because another context holds them, or because a garbage collection, which may run
            anywhere, left the block. Frames of a dead entry do not count. A block that was left
            where it was entered stays live in the copies of its context: a task that was started
            inside keeps its scope after the parent has left the block.
        open: Becomes False when the block has been left in any context. Threads that were started
            inside read it; with ``live`` alone they would keep the scope for their whole life.
        owner: The scope object that was entered; None for a call of a decorated function.
    """

    __slots__ = ("live", "open", "owner", "settings", "tokens")

    def __init__(self, settings: Settings, owner: object = None) -> None:
        self.settings: Settings = settings
        self.owner: object = owner
        self.live: bool = True
        self.open: bool = True
        self.tokens: list[Token[Any]] = []

    def enter(self) -> None:
        """Push a frame for each setting."""
        try:
            for slot, value in self.settings:
                frame = Frame(value, self, slot.var.get())
                self.tokens.append(slot.var.set(frame))
        except BaseException:  # Ctrl-C, between two frames
            self.abandon()
            raise

    def abandon(self) -> None:
        """Leave without a search for the frames, which no longer count anywhere."""
        self.live = self.open = False

    def leave(self) -> None:
        """Remove this entry's frames, and no others, from the stacks of the current context.

        The entry becomes dead (``live`` is False) if a frame could not be removed, because it is on
        the stack of another context. It also becomes dead during a garbage collection, which
        closes suspended generators with their ``with`` blocks. A collection may interrupt code of
        this class that has read a stack and is about to write it back, with the frames that are
        removed here. Frames of a dead entry do not count.
        """
        self.open = False
        if collecting():
            self.live = False
        for (slot, _), token in zip(self.settings, self.tokens):
            if not slot.remove(self, token):
                self.live = False

    def value(self, slot: Slot[_T]) -> _T:
        """Return the value of ``slot`` with which the scope was entered."""
        value: _T = next(value for each, value in self.settings if each is slot)
        return value


class Stepped(Entry):
    """Entry that is left whenever a generator or coroutine pauses, and entered when it resumes.

    Changes that the body makes between two pauses hold for the next step: values that it assigned,
    and scopes of the same settings that it entered and has not left.
    """

    __slots__ = ("stowed",)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.stowed: list[list[tuple[Any, Entry]]] = [[(value, self)] for _, value in settings]

    def resume(self) -> None:
        """Push the frames that were stowed at the last pause onto the current stack."""
        for (slot, _), frames in zip(self.settings, self.stowed):
            top = slot.var.get()
            for value, entry in reversed(frames):
                if entry.live:
                    top = Frame(value, entry, top)
            slot.var.set(top)

    def pause(self) -> None:
        """Stow this entry's frames, and those pushed onto them."""
        self.stowed = [self._stow(slot) for slot, _ in self.settings]

    def _stow(self, slot: Slot[Any]) -> list[tuple[Any, Entry]]:
        """Remove this entry's frame and those above it from a stack.

        Returns:
            The value and the entry of each removed frame, innermost first.
        """
        frames: list[tuple[Any, Entry]] = []
        frame = slot.var.get()
        while frame is not None:
            frames.append((frame.value, frame.entry))
            if frame.entry is self:
                slot.var.set(frame.parent)
                break
            frame = frame.parent
        return frames
