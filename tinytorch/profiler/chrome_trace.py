"""Trace files of a profile, for ``chrome://tracing``, Perfetto and TensorBoard's plug-in.

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
    """Write a trace; it is compressed if ``path`` ends with ``.gz``.

    Args:
        path: The file.
        records: The records of the profile.
        metadata: Further values, by name.
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
    """Yield the events that name the process and its threads."""
    pid = os.getpid()
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "python"}}
    for thread in sorted({record.thread for record in records}):
        fields = {"name": f"thread {thread}"}
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": thread, "args": fields}


def _spans(records: list[Record]) -> Iterator[dict[str, Any]]:
    """Yield an event for each record, with its time in microseconds and its details."""
    for record in records:
        fields: dict[str, Any] = {}
        if record.shapes is not None:
            fields["Input Dims"] = record.shapes
        if record.stack:
            fields["Call stack"] = ";".join(reversed(record.stack))
        if record.module:
            fields["Module Hierarchy"] = record.module
        if record.sequence >= 0:
            fields["Sequence number"] = record.sequence
        if record.memory:
            fields["Bytes"] = record.memory
        yield {
            "ph": "X", "cat": record.kind, "name": record.name, "pid": os.getpid(),
            "tid": record.thread, "ts": record.start / 1e3,
            "dur": (record.end - record.start) / 1e3, "args": fields,
        }  # fmt: skip


def _arrows(records: list[Record]) -> Iterator[dict[str, Any]]:
    """Yield the events of arrows, each from an operation to the computation of its gradients.

    Both have the same sequence number. An arrow is a pair of events, its start and its finish.
    """
    forward = {r.sequence: r for r in records if r.sequence >= 0 and not r.backward}
    for record in records:
        origin = forward.get(record.sequence) if record.backward else None
        if origin is not None:
            fields = {"cat": "fwdbwd", "name": "fwdbwd", "id": record.sequence, "pid": os.getpid()}
            yield {"ph": "s", **fields, "tid": origin.thread, "ts": origin.start / 1e3}
            yield {"ph": "f", "bp": "e", **fields, "tid": record.thread, "ts": record.start / 1e3}
