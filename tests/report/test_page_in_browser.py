"""The page in a real browser: opened from a file, clicked, used by keyboard, with a log full of markup."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from prefixlint.cli.report import command

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs Chromium (Debian: apt-get install chromium)")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\x1b[2J\u202egnp "


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


def opened(browser: Any, html: Path) -> tuple[Any, list[str]]:
    """Open the file and collect what must not happen: console errors and requests."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    trouble: list[str] = []
    page.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: trouble.append(str(e)))
    page.on("request", lambda r: trouble.append(r.url) if not r.url.startswith("file:") else None)
    page.on("dialog", lambda d: (trouble.append("dialog"), d.dismiss()))
    page.goto(html.as_uri())
    return page, trouble


def made(tmp_path: Path, log: Path) -> Path:
    out = tmp_path / "report.html"
    result = CliRunner().invoke(command, [str(log), "-o", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    assert out.stat().st_size < 3_000_000
    return out


def hostile_log(tmp_path: Path) -> Path:
    lines = []
    for minute in (14, 15, 16):
        system = f"{HOSTILE}Current time: 2026-03-02 09:{minute}:03\n" + "Follow the handbook. " * 40
        messages = [{"role": "system", "content": system}, {"role": "user", "content": HOSTILE}]
        lines.append(json.dumps({"session_id": HOSTILE, "request": {"model": HOSTILE, "messages": messages}}))
    path = tmp_path / "hostile.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_the_demo_log_is_shown_and_clicked(browser: Any, tmp_path: Path) -> None:
    page, trouble = opened(browser, made(tmp_path, Path(__file__).parents[2] / "examples" / "agent.jsonl"))
    assert page.locator(".site").count() >= 4
    assert page.locator(".row").count() == 210
    page.locator(".row").nth(3).click()
    assert page.locator("#detail").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#detail").is_visible()
    page.locator(".row").nth(0).focus()
    page.keyboard.press("ArrowDown")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == page.locator(".row").nth(1).get_attribute("aria-label")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert trouble == []
    page.close()


def test_a_narrow_window_needs_no_sideways_scrolling(browser: Any, tmp_path: Path) -> None:
    page, _ = opened(browser, made(tmp_path, Path(__file__).parents[2] / "examples" / "healthy.jsonl"))
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "No unwanted fork" in page.locator("main").inner_text()
    page.close()


def test_markup_in_a_log_is_text(browser: Any, tmp_path: Path) -> None:
    page, trouble = opened(browser, made(tmp_path, hostile_log(tmp_path)))
    assert page.title() == "prefixlint report"
    assert page.locator("main img").count() == 0
    assert "</script>" in page.locator("main").inner_text()
    assert "\u202e" not in page.locator("main").inner_text()
    assert trouble == []
    page.close()


def test_a_redacted_page_holds_no_text(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    CliRunner().invoke(command, [str(hostile_log(tmp_path)), "-o", str(out), "--redact"], catch_exceptions=False)
    text = out.read_text()
    assert "handbook" not in text
    assert "09:14" not in text
