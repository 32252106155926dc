"""The page that runs in the browser, driven as a person would; `make browser` builds it first."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.browser.conftest import BUILT, ROOT, open_page

pytest.importorskip("playwright", reason="the page is tested by `make browser`")
pytestmark = pytest.mark.skipif(not BUILT.exists(), reason="the page is built by `make browser`")


def enter(page: Any, *lines: str) -> str:
    """Type lines as into Python's REPL; return what the log then holds."""
    for line in lines:
        page.locator("#input").press_sequentially(line)
        page.keyboard.press("Enter")
        page.wait_for_function("form.ariaBusy !== 'true'")
        page.wait_for_selector("#run:enabled")
    page.wait_for_function("input.value === ''")
    return page.locator("#log").inner_text()


def test_a_typed_line_prints_its_result(page: Any) -> None:
    printed = enter(page, "tt.ones(2) + 1")
    assert "tt is tinytorch" in printed
    assert printed.rstrip().endswith("tt.ones(2) + 1\ntensor([2., 2.])")


def test_a_loop_typed_over_several_lines_runs(page: Any) -> None:
    printed = enter(page, "x = tt.tensor(3., requires_grad=True)", "for n in range(2):",
                 "(x ** 2).backward()", "", "x.grad")  # fmt: skip
    assert printed.rstrip().endswith("tensor(12.)")
    assert enter(page, "for n in range(2): n", "").rstrip().endswith("\n0\n1")


def test_error_shows_a_traceback_of_the_lines_typed(page: Any) -> None:
    printed = enter(page, "tt.ones(2) @ tt.ones(3)", "tt.matmull")
    assert "tt.ones(2) @ tt.ones(3)\n" in printed.split("Traceback")[1]
    assert "session.py" not in printed
    assert "Did you mean: 'matmul'?" in printed


def test_an_error_is_one_traceback_long(page: Any) -> None:
    printed = enter(page, "try: tt.ones(2) @ tt.ones(3)", "except RuntimeError: tt.tanhh", "")
    assert printed.count("Traceback (most recent call last)") == 1
    assert "AttributeError" in printed
    printed = enter(page, "try: 1 / 0", "except ZeroDivisionError as e: raise OSError from e", "")
    assert printed.count("Traceback (most recent call last)") == 3
    assert "direct cause" in printed


def test_the_up_arrow_recalls_earlier_lines(page: Any) -> None:
    enter(page, "1 + 1", "2 + 2")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.locator("#input").input_value() == "1 + 1"
    page.keyboard.press("ArrowDown")
    assert page.locator("#input").input_value() == "2 + 2"


def test_tab_completes_a_word(page: Any) -> None:
    page.locator("#input").press_sequentially("a = tt.zeros_l")
    page.keyboard.press("Tab")
    page.wait_for_function("input.value === 'a = tt.zeros_like('")


def test_a_completion_is_chosen_from_the_list(page: Any) -> None:
    page.locator("#input").press_sequentially("tt.nn.LSTM")
    page.locator("#complete").click()
    page.locator("#matches button", has_text="LSTMCell").click()
    assert page.locator("#input").input_value() == "tt.nn.LSTMCell("


def test_tab_leaves_an_empty_line(page: Any) -> None:
    page.locator("#input").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "run"


def start(page: Any, source: str) -> None:
    """Run code that does not end by itself."""
    page.locator("#input").fill(source)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#stop:enabled")


#: While it waits Python runs nothing that an interrupt could end.
WAITING = "import asyncio\nawait asyncio.sleep(1000)"


def test_endless_loop_is_stopped_and_the_page_goes_on(page: Any) -> None:
    enter(page, "a = 6")
    start(page, "while True: pass")
    assert page.evaluate("1 + 1") == 2
    started = page.locator("button:enabled").all_inner_texts()
    onnx = "Digits in ONNX Runtime"
    assert started == [onnx, "Stop", "Share", onnx], "the rest is disabled while Python is busy"
    assert "lost" in page.locator("#stopping").inner_text()
    page.locator("#stop").click()
    page.wait_for_selector("#run:enabled")
    assert "NameError" in enter(page, "a")
    assert enter(page, "6 * 7").rstrip().endswith("42")


def test_stop_keeps_variables_where_the_page_is_isolated(isolated_page: Any) -> None:
    enter(isolated_page, "a = 6")
    start(isolated_page, "while True: pass")
    assert "keeps your variables" in isolated_page.locator("#stopping").inner_text()
    isolated_page.locator("#stop").click()
    isolated_page.wait_for_selector("#run:enabled")
    printed = enter(isolated_page, "a * 7").rstrip()
    assert printed.count("Traceback") == 1
    assert "\nKeyboardInterrupt\n" in printed
    assert printed.endswith("42")


def test_training_is_interrupted_where_the_page_is_isolated(isolated_page: Any) -> None:
    isolated_page.locator("#train").click()
    isolated_page.wait_for_selector("#digits canvas")
    isolated_page.locator("#stop").click()
    isolated_page.wait_for_selector("#run:enabled")
    assert "interrupted" in isolated_page.locator("#progress").inner_text()
    assert enter(isolated_page, "len(images)").rstrip().endswith("1797")


def test_python_that_no_interrupt_reaches_is_started_anew(isolated_page: Any) -> None:
    start(isolated_page, WAITING)
    stop = isolated_page.locator("#stop")
    stop.click()
    assert stop.inner_text() == "Start Python anew"
    stop.click()
    isolated_page.wait_for_selector("#run:enabled")
    assert stop.inner_text() == "Stop"
    assert enter(isolated_page, "6 * 7").rstrip().endswith("42")


#: The last line that each example prints.
EXAMPLES = {
    "Gradient": "tensor([0.0000, 0.4794, 0.8415, 0.9975, 0.9093])",
    "NumPy script with gradients": "[ 1.  -2.   0.5]",
    "Switch of backend": "reporting numpy\nnumpy",
    "PyTorch program": "(2): Linear(in_features=32, out_features=1, bias=True)\n)",
}


def test_examples_run_when_they_are_clicked(page: Any) -> None:
    buttons = page.locator("[data-example]")
    assert buttons.all_inner_texts() == [*EXAMPLES]
    for name, last in EXAMPLES.items():
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_function(
            "(last) => log.innerText.trimEnd().endsWith(last) && !run.disabled", arg=last
        )
    printed = page.locator("#log").inner_text()
    assert "Traceback" not in printed
    assert "sin of 3 elements" in printed
    assert "loss 0.0008 after 400 steps" in printed


def test_a_bar_shows_how_much_of_python_is_loaded(browser: Any, site: str) -> None:
    page = browser.new_page()
    shown = "Array.from(document.querySelectorAll('#loading:not([hidden])'), (bar) => bar.value)"
    page.goto(site, wait_until="commit")
    page.wait_for_selector("#loading")
    page.wait_for_function("document.getElementById('loading').value > 1e6")
    page.wait_for_selector("#run:enabled", timeout=120_000)
    assert page.evaluate(shown) == [], "the bar is gone when Python is ready"
    loaded, whole = page.evaluate("[loading.value, loading.max]")
    assert loaded == whole
    page.close()


def test_digits_are_learned_and_drawn(page: Any) -> None:
    page.locator("#train").click()
    page.wait_for_selector("#loss[d]", state="attached")
    page.wait_for_selector("#digits canvas")
    assert page.locator("#after").is_hidden(), "drawn after the training alone"
    page.wait_for_selector("#after:visible")
    printed = page.locator("#progress").inner_text()
    epoch, epochs, accuracy = re.findall(r"[\d.]+", printed)
    assert epoch == epochs
    assert float(accuracy) >= 95
    assert page.locator("#loss").get_attribute("d").count("L") == int(epochs) * 43 - 1
    assert page.locator("#digits canvas").count() == 20
    assert "tensor([" in enter(page, "model(images[:3]).argmax(1)")
    picture = BUILT.parent / f"browser-{page.viewport_size['width']}.png"
    page.screenshot(path=picture, full_page=True)
    print(f"\nscreenshot: {picture}")


def predict_by_onnxruntime() -> tuple[np.ndarray, np.ndarray]:
    """Predictions of Python's onnxruntime for the page's held-out digits, and their labels."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="`make browser` installs it")
    rows = np.fromfile(BUILT / "digits.bin", np.uint8).reshape(-1, 65)[-400:]
    images = rows[:, :64].reshape(-1, 1, 8, 8).astype(np.float32) / 16
    session = onnxruntime.InferenceSession(
        str(BUILT / "digits.onnx"), providers=["CPUExecutionProvider"]
    )
    (logits,) = session.run(["logits"], {"images": images})
    return logits.argmax(1), rows[:, 64]


@pytest.mark.parametrize("width", [1280, 390], ids=["desk", "phone"])
def test_onnx_runtime_classifies_digits_without_python(
    browser: Any, isolated_site: str, site: str, width: int
) -> None:
    predicted, labels = predict_by_onnxruntime()
    right, wrong = np.flatnonzero(predicted == labels), np.flatnonzero(predicted != labels)
    texts = [f"{predicted[i]}, is {labels[i]}" for i in wrong[:10]]
    texts += [f"{predicted[i]} ✓" for i in right[: 20 - len(texts)]]
    for address in (site, isolated_site):
        with open_page(browser, width, address, python=False) as page:
            page.locator("#about [data-onnx]").click()
            page.wait_for_selector("#onnx-digits canvas")
            shown = page.locator("#onnx-progress").inner_text()
            assert shown.startswith(f"{len(right)} of 400 digits correct ({len(right) / 4:.1f} %)")
            assert page.locator("#onnx-digits span").all_inner_texts() == texts
            assert page.locator("#run").is_disabled(), "Python has not started"
            picture = BUILT.parent / f"browser-onnx-{width}.png"
            page.screenshot(path=picture, full_page=True)
    print(f"\nscreenshot: {picture}")


def test_link_brings_the_code_and_does_not_run_it(page: Any) -> None:
    code = 'for word in ("größer", "#&%"):\n    print(word)'
    page.locator("#input").fill(code)
    page.locator("#share").click()
    page.wait_for_selector("#shared:visible")
    link = page.locator("#link").input_value()
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("#run:enabled")
    assert page.locator("#input").input_value() == code
    assert "größer" not in page.locator("#log").inner_text()
    page.locator("#run").click()
    page.wait_for_function("document.getElementById('log').innerText.includes('größer\\n#&%')")


def test_link_without_a_line_holds_what_was_run(page: Any) -> None:
    enter(page, "a = 1", "a + 1")
    page.locator("#share").click()
    page.wait_for_selector("#shared:visible")
    assert page.locator("#link").input_value().endswith("#code=a%20%3D%201%0Aa%20%2B%201")


def test_a_page_built_as_documented_works(page: Any, site: str) -> None:
    (snippet,) = re.findall(r"```html\n(.*?)```", (ROOT / "docs" / "browser.md").read_text(), re.S)
    html = f"<!doctype html><link rel=icon href='data:,'><body>{snippet}"
    page.route("**/own.html", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(f"{site}own.html")
    page.wait_for_function("document.body.innerText.startsWith('tensor(')")
    assert page.inner_text("body") == "tensor([0.0000, 0.4794, 0.8415, 0.9975, 0.9093])"
