"""How a setting is looked up, and what entering and leaving a scope does to it.

A setting has up to three values, and the first one found counts: that of the innermost live
**scope**, kept in a ContextVar so that tasks do not see each other's; the **thread's**
choice, kept in a ``threading.local`` so that it outlives the task that made it (a notebook
runs each cell in a task of its own); a default for the process.

A slot's ContextVar holds a linked stack of frames that are never changed, because a context
copied into a task or thread shares them. An entry (one ``with`` block, or one call of a
decorated function) owns the frames it pushed and takes away those alone, wherever in the
stack they are: a generator suspended inside a scope may outlive scopes around it.
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

#: Where a Thread object carries the backend that its spawner had chosen.
INHERITED = "_tinytorch_backend"


class _ThreadState(threading.local):
    """What a thread chose for itself; None where it chose nothing."""

    def __init__(self) -> None:
        # Runs in each thread at its first use of this object, hence in the new thread.
        inherited = getattr(threading.current_thread(), INHERITED, None)
        self.backend: Backend | Inherited[Backend] | None = inherited
        self.grad: bool | None = None
        self.inference: bool | None = None
        self.dtype: dtype | None = None


thread: _ThreadState = _ThreadState()


class Frame(Generic[_T]):
    """One value on a slot's stack."""

    __slots__ = ("entry", "parent", "value")

    def __init__(self, value: _T, entry: Entry, parent: Frame[_T] | None) -> None:
        self.value: _T = value
        self.entry: Entry = entry
        self.parent: Frame[_T] | None = parent


class Inherited(Generic[_T]):
    """What a thread begins with that was started inside scopes: theirs, each until it ends.

    It stands where the thread's choice would; a choice of its own takes its place.

    Attributes:
        frames: The scopes that were open when the thread was started, innermost first.
        choice: The choice of the thread that started it, which stays.
    """

    __slots__ = ("choice", "frames")

    def __init__(self, frames: tuple[Frame[_T], ...], choice: _T | None) -> None:
        self.frames: tuple[Frame[_T], ...] = frames
        self.choice: _T | None = choice

    def value(self) -> _T | None:
        """The value of the innermost scope that is still open, else the choice."""
        return next((frame.value for frame in self.frames if frame.entry.open), self.choice)


class Slot(Generic[_T]):
    """A setting's stack of scopes, and the name of the thread's choice.

    Attributes:
        var: The innermost frame of the current context.
        name: The attribute of ``thread`` that holds the thread's choice.
        by_thread: Whether any thread ever made one; until then look-ups skip ``thread``,
            which costs as much as the rest of the look-up.
    """

    __slots__ = ("by_thread", "name", "var")

    def __init__(self, name: str) -> None:
        self.var: Variable[Frame[_T] | None] = Variable(name, None)
        self.name: str = name
        self.by_thread: bool = False

    def top(self) -> Frame[_T] | None:
        """The innermost live frame of this context; forgets dead ones above it."""
        first = frame = self.var.get()
        while frame is not None and not frame.entry.live:
            frame = frame.parent
        if frame is not first:
            self.var.set(frame)
        return frame

    def explicit(self) -> _T | None:
        """The scope's value, else the thread's choice, else None."""
        frame = self.top()
        if frame is not None:
            return frame.value
        found: _T | Inherited[_T] | None = getattr(thread, self.name)
        return found.value() if isinstance(found, Inherited) else found

    def inherited(self) -> Inherited[_T]:
        """What a thread that is started here begins with."""
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
        """Replace the innermost scope's value, or outside scopes choose for this thread.

        Returns:
            A function that takes the change back.
        """
        frame = self.top()
        if frame is not None:
            self.var.set(Frame(value, frame.entry, frame.parent))
            return lambda: self._put_back(frame)
        before = getattr(thread, self.name)
        self.choose(value)
        return lambda: setattr(thread, self.name, before)

    def choose(self, value: _T | None) -> None:
        """Make this thread's choice, whatever scope is active; None: forget it."""
        self.by_thread = True
        setattr(thread, self.name, value)

    def revert(self) -> None:
        """Give the innermost scope its own value again, or outside scopes forget the choice."""
        frame = self.top()
        if frame is None:
            setattr(thread, self.name, None)
        else:
            self._put_back(Frame(frame.entry.value(self), frame.entry, frame.parent))

    def _put_back(self, frame: Frame[_T]) -> None:
        top = self.top()
        if top is not None and top.entry is frame.entry:
            self.var.set(frame)

    def remove(self, entry: Entry, token: Token[Frame[_T] | None]) -> bool:
        """Take the entry's frame out of this context's stack.

        Returns:
            False if the frame is (also) elsewhere: this is not the context it was entered
            in, or it is stowed away in a suspended generator.
        """
        top = self.var.get()
        if top is not None and top.entry is entry:
            rest, found = top.parent, True
        else:
            rest, found = _without(top, entry)
        try:
            self.var.reset(token)  # the one question that tells this context from a copy
        except ValueError:
            return False
        if self.var.get() is not rest:
            self.var.set(rest)
        return found


def _without(top: Frame[_T] | None, entry: Entry) -> tuple[Frame[_T] | None, bool]:
    """The stack without the entry's frame, and whether it was there."""
    above = []
    frame = top
    while frame is not None and frame.entry is not entry:
        above.append(frame)
        frame = frame.parent
    if frame is None:
        return top, False
    rest = frame.parent
    for kept in reversed(above):
        rest = Frame(kept.value, kept.entry, rest)
    return rest, True


Settings: TypeAlias = "tuple[tuple[Slot[Any], Any], ...]"


class Entry:
    """One pass through a scope: the frames that belong together.

    Attributes:
        live: Becomes False when the block has been left and its frames could not be taken
            away, because another context holds them, or because it was left by a garbage
            collection, which may be anywhere. Frames of a dead entry do not count.
            A block left where it was entered stays live in the copies of its context: a
            task started inside keeps its scope after the parent has gone on.
        open: Becomes False when the block has been left, wherever that was. Threads that were
            started inside look at it: they would keep the scope for as long as they live.
        owner: The scope object that was entered, None for a call of a decorated function.
    """

    __slots__ = ("live", "open", "owner", "settings", "tokens")

    def __init__(self, settings: Settings, owner: object = None) -> None:
        self.settings: Settings = settings
        self.owner: object = owner
        self.live: bool = True
        self.open: bool = True
        self.tokens: list[Token[Any]] = []

    def enter(self) -> None:
        """Push one frame per setting."""
        try:
            for slot, value in self.settings:
                frame = Frame(value, self, slot.var.get())
                self.tokens.append(slot.var.set(frame))
        except BaseException:  # Ctrl-C, between two frames
            self.abandon()
            raise

    def abandon(self) -> None:
        """Leave without looking for the frames: they no longer count, wherever they are."""
        self.live = self.open = False

    def leave(self) -> None:
        """Take this entry's frames away, and no others."""
        self.open = False
        if collecting():  # the interrupted code may put back the stack as it had found it
            self.live = False
        for (slot, _), token in zip(self.settings, self.tokens):
            if not slot.remove(self, token):
                self.live = False

    def value(self, slot: Slot[_T]) -> _T:
        """What the scope set ``slot`` to when it was entered."""
        value: _T = next(value for each, value in self.settings if each is slot)
        return value


class Stepped(Entry):
    """An entry that is left whenever a generator or coroutine pauses, and entered again.

    What the body changed between two pauses is kept for the next step: values it assigned
    and scopes of the same settings that it entered and has not left.
    """

    __slots__ = ("stowed",)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.stowed: list[list[tuple[Any, Entry]]] = [[(value, self)] for _, value in settings]

    def resume(self) -> None:
        """Push the frames stowed away at the last pause onto the current stack."""
        for (slot, _), frames in zip(self.settings, self.stowed):
            top = slot.var.get()
            for value, entry in reversed(frames):
                if entry.live:
                    top = Frame(value, entry, top)
            slot.var.set(top)

    def pause(self) -> None:
        """Stow this entry's frames away, with those pushed onto them."""
        self.stowed = [self._stow(slot) for slot, _ in self.settings]

    def _stow(self, slot: Slot[Any]) -> list[tuple[Any, Entry]]:
        frames: list[tuple[Any, Entry]] = []
        frame = slot.var.get()
        while frame is not None:
            frames.append((frame.value, frame.entry))
            if frame.entry is self:
                slot.var.set(frame.parent)
                break
            frame = frame.parent
        return frames
