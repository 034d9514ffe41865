"""Places that templates fill in: which names are volatile, what is escaped, what stands too early."""

from __future__ import annotations

import pytest

from prefixlint.checks import placeholders
from prefixlint.model import Prompt, PromptKind, Request, Segment, Span

SHARED = " Answer questions about the handbook in a few words." * 30


def hits(
    text: str, *, kind: PromptKind = "template", syntax: str = ""
) -> list[tuple[str, str, str | None, str | None]]:
    segment = Segment("system", "", text, "system", syntax=syntax)
    prompt = Prompt(Request("0", "raw", Span("x")), (segment,), "", False, kind)
    return [
        (h.rule, text[h.start_char : h.end_char], h.confidence, h.severity)
        for h in placeholders.check_prompt(prompt)
        if h.confidence != "low"
    ]


@pytest.mark.parametrize(
    ("text", "rule", "flagged", "confidence"),
    [
        ("Current time: {{now}}", "timestamp", "{{now}}", "high"),
        ("The current date and time is {datetime}.", "timestamp", "{datetime}", "high"),
        ("{{ now().strftime('%H:%M') }}", "timestamp", "{{ now().strftime('%H:%M') }}", "medium"),
        ("At {now:%Y-%m-%d %H:%M}", "timestamp", "{now:%Y-%m-%d %H:%M}", "medium"),
        ("{{currentDateTime}}", "timestamp", "{{currentDateTime}}", "medium"),
        ("<%= Time.now %>", "timestamp", "<%= Time.now %>", "medium"),
        ("${new Date().toISOString()}", "timestamp", "${new Date().toISOString()}", "medium"),
        ("{% now 'Y-m-d H:i' %}", "timestamp", "{% now 'Y-m-d H:i' %}", "medium"),
        ("Time: $(date)", "timestamp", "$(date)", "high"),
        ("%(timestamp)s", "timestamp", "%(timestamp)s", "medium"),
        ("Time: {time}", "timestamp", "{time}", "medium"),
        ('{{ "now" | date: "%Y-%m-%d %H:%M" }}', "timestamp", '{{ "now" | date: "%Y-%m-%d %H:%M" }}', "medium"),
        ('{{ now | date "2006-01-02 15:04" }}', "timestamp", '{{ now | date "2006-01-02 15:04" }}', "medium"),
        ("{{utc_iso_datetime}}", "timestamp", "{{utc_iso_datetime}}", "medium"),
        ("{{ .SessionID }}", "random-id", "{{ .SessionID }}", "medium"),
        ("{{#sys.query#}}" + SHARED, "dynamic-before-static", "{{#sys.query#}}", "medium"),
        ("${uuid}", "uuid", "${uuid}", "medium"),
        ("{{ request_uuid }}", "uuid", "{{ request_uuid }}", "medium"),
        ("session={session_id}", "random-id", "{session_id}", "high"),
        ("Iteration {iteration}", "counter", "{iteration}", "high"),
        ("You talk to {{ user.firstName }}." + SHARED, "user-or-host", "{{ user.firstName }}", "medium"),
        ("Working directory: {{cwd}}" + SHARED, "cwd-or-env", "{{cwd}}", "high"),
        ("{{git_status}}" + SHARED, "git-status", "{{git_status}}", "medium"),
        ("{question}" + SHARED, "dynamic-before-static", "{question}", "medium"),
        ("{{ inputs.documents }}" + SHARED, "dynamic-before-static", "{{ inputs.documents }}", "medium"),
    ],
)
def test_found(text: str, rule: str, flagged: str, confidence: str) -> None:
    assert [h[:3] for h in hits(text)] == [(rule, flagged, confidence)]


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("Today: {{ today }}", "{{ today }}"),
        ("Date: {{ now() | strftime('%Y-%m-%d') }}", "{{ now() | strftime('%Y-%m-%d') }}"),
        ("Current Date: {{CURRENT_DATE}}", "{{CURRENT_DATE}}"),
        ("Today: $(date +%F)", "$(date +%F)"),
        ('Date: <%= Time.now.strftime("%Y-%m-%d") %>', '<%= Time.now.strftime("%Y-%m-%d") %>'),
        ("Date: {{datetime | date('YYYY-MM-DD')}}", "{{datetime | date('YYYY-MM-DD')}}"),
    ],
)
def test_a_day_is_only_an_info(text: str, flagged: str) -> None:
    assert [(h[0], h[1], h[3]) for h in hits(text)] == [("date", flagged, "info")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Write {{!date}} to get a literal {{date}} in the text.", id="escaped, and a date without label"),
        pytest.param("{% raw %}{{ now }}{% endraw %}", id="raw block"),
        pytest.param("{{{{now}}}}", id="four braces"),
        pytest.param("\\{{now}}", id="backslash"),
        pytest.param("$${now}", id="two dollars"),
        pytest.param("{# {{ now }} #}", id="comment"),
        pytest.param("{{#if now}}x{{/if}}", id="section"),
        pytest.param("Use `{{now}}` in your own templates.", id="inline code"),
        pytest.param("```\nCurrent time: {{now}}\n```", id="fenced code"),
        pytest.param("For example: {{now}}", id="example"),
        pytest.param("{{ known_facts }} {timestamp_format} {day_limit} {{ temperature }}", id="names of other things"),
        pytest.param('{{ "question" }}' + SHARED, id="a string constant"),
        pytest.param("at {time}", id="a time that may be any"),
        pytest.param("https://x/{session_id}/y", id="part of a URL"),
        pytest.param("files named report-{timestamp}.txt", id="part of a name"),
        pytest.param("{{cwd}}", id="nothing behind it to share"),
        pytest.param("You are {{agent_name}} of {{company}}." + SHARED, id="names of the deployment"),
        pytest.param(SHARED + "{question}", id="the question behind the instructions"),
        pytest.param("{page.text}" + SHARED, id="a member of an unknown object"),
    ],
)
def test_silent(text: str) -> None:
    assert hits(text) == []


def test_in_format_strings_two_braces_are_one() -> None:
    assert hits("Print {{now}} as it is.", syntax="f-string") == []
    assert [h[1] for h in hits("Current time: {now}", syntax="f-string")] == ["{now}"]


def test_a_chat_template_is_made_of_variables() -> None:
    text = "{% for message in messages %}{{ message.content }}{% endfor %}" + SHARED
    assert hits(text, kind="chat-template") == []


@pytest.mark.parametrize(
    ("text", "flagged"),
    [("You help {{user_name}}.", ["{{user_name}}"]), ("You help `{{user_name}}`.", []), ('Return {"a": 1}.', [])],
)
def test_a_rendered_request_holds_no_placeholders(text: str, flagged: list[str]) -> None:
    found = hits(text, kind="body")
    assert [h[1] for h in found] == flagged
    assert {h[0] for h in found} <= {"unrendered-placeholder"}
