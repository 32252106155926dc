"""A profile as a file for ``chrome://tracing``, Perfetto and TensorBoard's plug-in.

Reference: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (the
Trace Event Format)
"""

from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Iterator
from typing import Any

from .recording import Record


def write_trace(
    path: str | os.PathLike[str], records: list[Record], metadata: dict[str, Any]
) -> None:
    """Write a trace; compressed if ``path`` ends in ``.gz``.

    Args:
        path: The file.
        records: What ran.
        metadata: What else to say, by name.
    """
    name = os.fspath(path)
    trace = {
        "schemaVersion": 1,
        **metadata,
        "host_name": socket.gethostname(),
        "displayTimeUnit": "ms",
        "traceEvents": [*_heading(records), *_spans(records), *_arrows(records)],
        "traceName": name,
    }
    with gzip.open(name, "wt") if name.endswith(".gz") else open(name, "w") as file:
        json.dump(trace, file)


def _heading(records: list[Record]) -> Iterator[dict[str, Any]]:
    """The names of the process and of its threads."""
    pid = os.getpid()
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "python"}}
    for thread in sorted({record.thread for record in records}):
        said = {"name": f"thread {thread}"}
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": thread, "args": said}


def _spans(records: list[Record]) -> Iterator[dict[str, Any]]:
    for record in records:
        said: dict[str, Any] = {}
        if record.shapes is not None:
            said["Input Dims"] = record.shapes
        if record.stack:
            said["Call stack"] = ";".join(reversed(record.stack))
        if record.sequence >= 0:
            said["Sequence number"] = record.sequence
        if record.memory:
            said["Bytes"] = record.memory
        yield {
            "ph": "X", "cat": record.kind, "name": record.name, "pid": os.getpid(),
            "tid": record.thread, "ts": record.start / 1e3,
            "dur": (record.end - record.start) / 1e3, "args": said,
        }  # fmt: skip


def _arrows(records: list[Record]) -> Iterator[dict[str, Any]]:
    """From each operation to its gradients."""
    forward = {r.sequence: r for r in records if r.sequence >= 0 and not r.backward}
    for record in records:
        origin = forward.get(record.sequence) if record.backward else None
        if origin is not None:
            said = {"cat": "fwdbwd", "name": "fwdbwd", "id": record.sequence, "pid": os.getpid()}
            yield {"ph": "s", **said, "tid": origin.thread, "ts": origin.start / 1e3}
            yield {"ph": "f", "bp": "e", **said, "tid": record.thread, "ts": record.start / 1e3}
