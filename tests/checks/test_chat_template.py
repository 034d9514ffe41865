"""What chat templates inject; the templates are cut down from published ones (Llama 3.2, Qwen3, Mistral)."""

from __future__ import annotations

import pytest

from prefixlint.checks import chat_template
from prefixlint.model import Prompt, PromptKind, Request, Segment, Span

LOOP = "{%- for message in messages %}{{- message.content }}{%- endfor %}"


def hits(text: str, kind: PromptKind = "template") -> list[tuple[str, str]]:
    segment = Segment("system", "", text, "system", syntax="jinja")
    prompt = Prompt(Request("0", "raw", Span("x")), (segment,), "", False, kind)
    return [(h.rule, text[h.start_char : h.end_char]) for h in chat_template.check_prompt(prompt)]


@pytest.mark.parametrize(
    ("text", "rule", "flagged"),
    [
        ('{%- set today = strftime_now("%d %b %Y") %}', "template-injected", 'strftime_now("%d %b %Y")'),
        ("{{ datetime.now().strftime('%H') }}" + LOOP, "template-injected", "datetime.now().strftime('%H')"),
        (LOOP + "{{- '<think>\\n\\n</think>\\n\\n' }}", "template-injected", "<think>\\n\\n</think>\\n\\n"),
        (
            LOOP + "{%- if tools and loop.last %}[AVAILABLE_TOOLS]{{ tools | tojson }}{%- endif %}",
            "template-injected",
            "{%- if tools and loop.last %}",
        ),
        (LOOP + "{% set c = c.split('</think>')[-1] %}", "thinking-stripped", ".split('</think>')[-1]"),
    ],
)
def test_found(text: str, rule: str, flagged: str) -> None:
    assert hits(text) == [(rule, flagged)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{%- set date_string = "26 Jul 2024" %}' + LOOP, id="constant date"),
        pytest.param("{%- if tools %}{{ tools | tojson }}{%- endif %}" + LOOP, id="tools at the head"),
        pytest.param("{# strftime_now('%d') #}" + LOOP, id="comment"),
        pytest.param("{%- if strftime_now is defined %}x{%- endif %}" + LOOP, id="asked for, not called"),
        pytest.param("Templates may call `strftime_now('%d')` {{ x }}.", id="prose"),
        pytest.param("Write <think></think> {{ x }} first.", id="no chat template"),
    ],
)
def test_silent(text: str) -> None:
    assert hits(text) == []
