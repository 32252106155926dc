"""Secrets by which the processes of a job know each other.

The variable ``TINYTORCH_DISTRIBUTED_SECRET`` holds it: the launcher sets it, or the user. Without
it, ranks that meet on a loopback address share a file that only their user can read; the first rank
creates it, and rank 0's server removes it when all have come.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import stat
import tempfile
from pathlib import Path

VARIABLE = "TINYTORCH_DISTRIBUTED_SECRET"


def find_secret(host: str, port: int) -> tuple[bytes, str]:
    """Return the secret of the job whose rank 0 is at an address, and its file or ``""``.

    Raises:
        ValueError: If the address is not a loopback address and the variable is not set.
        PermissionError: If others may write to the folder of the files.
    """
    text = os.environ.get(VARIABLE, "")
    if text:
        return text.encode(), ""
    if not is_loopback(host):
        raise ValueError(
            f"init_process_group: rank 0's address {host} is not a loopback address, so that other "
            f"machines reach it. Set the environment variable {VARIABLE} to the same random text "
            "on all ranks, by which they know each other"
        )
    path = secret_folder() / f"port-{port}"
    return _share(path), str(path)


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine alone."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(each[4][0])).is_loopback for each in found)


def secret_folder() -> Path:
    """Folder of the user's own, in ``XDG_RUNTIME_DIR`` or the system's folder for temporary files.

    Raises:
        PermissionError: If another user owns it, or may look into it.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = (
        Path(runtime, "tinytorch")
        if runtime and os.path.isdir(runtime) and os.access(runtime, os.W_OK)
        else Path(tempfile.gettempdir(), f"tinytorch-{os.getuid()}")
    )
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(
            f"{folder} must be a folder of mode 0700 that this user owns: remove it, or set "
            f"{VARIABLE}"
        )
    return folder


def _share(path: Path) -> bytes:
    """Return the content of a file; create it, whole and with a new secret, if it is not there."""
    while True:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            _create(path)
            continue
        with open(handle, "rb") as file:
            return file.read(1024)


def _create(path: Path) -> None:
    own = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(secrets.token_hex(32).encode())
        os.link(own, path)  # fails where another rank was first
    except FileExistsError:
        pass
    finally:
        os.unlink(own)
