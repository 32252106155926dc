"""The built page, served from a folder, in a real browser without a window."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
BUILT = ROOT / "build" / "browser"
FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Quiet(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, *args: Any) -> None:
        pass


class Isolating(Quiet):
    """Sends the headers that `docs/browser.md` names, by which Python can be interrupted."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


@contextmanager
def serve(handler: type[Quiet]) -> Iterator[str]:
    """Serve the built page; the value is its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(BUILT)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the page, from a server as simple as Python's own."""
    with serve(Quiet) as address:
        yield address


@pytest.fixture(scope="session")
def isolated_site() -> Iterator[str]:
    """The address of the page, from a server that isolates it."""
    with serve(Isolating) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.fail("no Chromium: apt-get install chromium, or put one on PATH")
    api = pytest.importorskip("playwright.sync_api", reason="`make browser` installs it")
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # for whom Chromium has no sandbox
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=path, args=FLAGS, chromium_sandbox=not root
        )
        yield found
        found.close()


@contextmanager
def open_page(browser: Any, width: int, site: str, python: bool = True) -> Iterator[Any]:
    """The page with Python ready, or where it never starts.

    An error on the page's console, or a request elsewhere, is a fault.
    """
    faults: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": 844})
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.on("console", lambda said: said.type == "error" and faults.append(said.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda asked: faults.append(f"{asked.url}: {asked.failure}"))
    context.on("request", lambda asked: is_ours(asked.url, site) or faults.append(asked.url))
    if not python:
        page.route("**/worker.js", lambda route: route.fulfill(response=route.fetch(), body=""))
    page.goto(site)
    if python:
        page.wait_for_selector("#run:enabled")
    yield page
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    context.close()
    assert faults == []
    assert wide <= 0, f"the page is {wide} pixels wider than the window"


@pytest.fixture(params=[1280, 390], ids=["desk", "phone"])
def page(request: pytest.FixtureRequest, browser: Any, site: str) -> Iterator[Any]:
    """The page at one of two widths."""
    with open_page(browser, request.param, site) as found:
        yield found


@pytest.fixture
def isolated_page(browser: Any, isolated_site: str) -> Iterator[Any]:
    """The page where Python can be interrupted."""
    with open_page(browser, 1280, isolated_site) as found:
        yield found


def is_ours(address: str, site: str) -> bool:
    return address.startswith((site, "data:", "blob:"))
