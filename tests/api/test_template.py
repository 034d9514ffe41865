"""Requests of a log become the text of a chat template, one by one; a refused one hides no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixlint.api.template import rendered, template
from prefixlint.errors import ConfigError, InputError
from prefixlint.model import Request, Span
from prefixlint.provenance import place_of

SOURCE = "{% if messages[0].role != 'user' %}{{ raise_exception('user first') }}{% endif %}<{{ messages[0].content }}>"


def request(role: str) -> Request:
    body = {"messages": f'[{{"role": "{role}", "content": "hi"}}]'.encode()}
    return Request("r", "openai-chat", Span("log.jsonl", record=3, line=4), body, session="s", at_s=1.0)


def test_the_text_takes_the_place_of_the_body(tmp_path: Path) -> None:
    (tmp_path / "t.jinja").write_text(SOURCE)
    found = rendered(request("user"), template(str(tmp_path / "t.jinja")))
    assert isinstance(found, Request)
    assert (found.text, found.provider, found.session, found.members) == ("<hi>", "raw", "s", {})
    assert place_of(found.places, 2) == ("/messages/0/content", 1)


def test_a_refused_request_is_an_error_at_its_line_of_the_log(tmp_path: Path) -> None:
    (tmp_path / "t.jinja").write_text(SOURCE)
    found = rendered(request("tool"), template(str(tmp_path / "t.jinja")))
    assert isinstance(found, InputError)
    expected = f"log.jsonl:4:1: {tmp_path / 't.jinja'}:1: the chat template fails: user first"
    assert str(found) == expected


def test_what_is_no_body_stays(tmp_path: Path) -> None:
    (tmp_path / "t.jinja").write_text(SOURCE)
    raw = Request("r", "raw", Span("p.txt"), text="as it is")
    assert rendered(raw, template(str(tmp_path / "t.jinja"))) is raw


@pytest.mark.parametrize(("date", "text"), [("2026-12-01", "01 Dec 2026"), ("2020-02-29T10:00:00", "29 Feb 2020")])
def test_dates(tmp_path: Path, date: str, text: str) -> None:
    (tmp_path / "t.jinja").write_text("{{ strftime_now('%d %b %Y') }}")
    found = rendered(request("user"), template(str(tmp_path / "t.jinja")), date=date)
    assert isinstance(found, Request) and found.text == text


def test_no_date(tmp_path: Path) -> None:
    (tmp_path / "t.jinja").write_text("x")
    with pytest.raises(ConfigError, match="'tomorrow' is no date"):
        rendered(request("user"), template(str(tmp_path / "t.jinja")), date="tomorrow")
