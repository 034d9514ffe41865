"""Chat templates give what transformers gave for them, and their text is traced back to the body."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.chat_template import load_template
from prefixlint.errors import InputError
from prefixlint.model import Prompt, Request, Span
from prefixlint.provenance import place_of
from prefixlint.render.chat_template import Template, parse_template, render_template, segments_of

FOLDER = Path(__file__).parent.parent / "data" / "chat_templates"
CASES = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
RECORDED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
DATE = datetime.datetime.fromisoformat(RECORDED["date"])
# Transformers gives a template the body as it is. Servers turn content that is null or a list into text first, and
# arguments that are text into objects; so here only the templates that read those forms can be compared.
READS = {"parts": ("alternating_parts", "parts"), "text-arguments": ("system_at_head",)}
COMPARED = [
    (template, case)
    for template, answers in RECORDED["answers"].items()
    for case in answers
    if template in READS.get(case, (template,))
]


def request(body: dict[str, Any], provider: str = "openai-chat", **more: Any) -> Request:
    """Make a request of a body."""
    members = {name: json.dumps(value).encode() for name, value in body.items()}
    return Request("r", provider, Span("log.jsonl"), members, **more)


def render(source: str, body: dict[str, Any], provider: str = "openai-chat", **options: Any) -> Prompt:
    """Render a body with a template."""
    template = parse_template(source.encode(), "t.jinja", special=SPECIAL)
    return render_template(request(body, provider), template, **options)


def text_of(prompt: Prompt) -> str:
    """Return the whole text."""
    (segment,) = prompt.segments
    assert segment.pointer == "" and prompt.exact
    assert type(segment.text) is str
    return segment.text


@pytest.mark.parametrize(("name", "case"), COMPARED)
def test_equals_transformers(name: str, case: str) -> None:
    template = load_template(str(FOLDER / f"{name}.jinja"))
    template = Template(template.path, template.sources, tuple(SPECIAL.items()))
    given, answer = CASES[case], RECORDED["answers"][name][case]
    body = {key: given[key] for key in ("messages", "tools") if key in given}
    options = {"add_generation_prompt": given.get("add_generation_prompt", True), "options": given.get("options")}
    if "error" in answer:
        with pytest.raises(InputError, match=r"\.jinja:\d+: the chat template fails"):
            render_template(request(body), template, date=DATE, **options)
        return
    prompt = render_template(request(body), template, date=DATE, **options)
    assert text_of(prompt) == answer["text"]
    check_places(prompt, body)


def check_places(prompt: Prompt, body: dict[str, Any]) -> None:
    """Check that every place holds the characters of the body that it says."""
    text, before = text_of(prompt), 0
    for place in prompt.places:
        assert before <= place.start_char < place.end_char <= len(text)
        before = place.end_char
        value: Any = body
        for key in place.pointer.split("/")[1:]:
            value = value[int(key) if isinstance(value, list) else key]
        piece = text[place.start_char : place.end_char]
        source = value[place.char_offset :]
        assert source.startswith(piece) or piece.startswith("\\"), (place, piece, source)


def pointers(prompt: Prompt) -> list[tuple[str, str]]:
    """List what each place shows."""
    text = text_of(prompt)
    return [(text[place.start_char : place.end_char], place.pointer) for place in prompt.places]


LIST = (
    "{% for m in messages %}[{{ m.role }}:{{ m.content }}"
    "{% for c in m.tool_calls %}!{{ c.function | tojson }}{% endfor %}]{% endfor %}"
)


@pytest.mark.parametrize(
    ("provider", "body", "expected"),
    [
        ("openai-chat", {"messages": [{"role": "developer", "content": "d"}]}, "[system:d]"),
        (
            "openai-chat",
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]},
            "[user:a\nb]",
        ),
        (
            "anthropic",
            {
                "system": [
                    {"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": "t"},
                ],
                "messages": [
                    {"role": "user", "content": "u"},
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": "hm", "signature": "x"},
                            {"type": "text", "text": "v"},
                            {"type": "tool_use", "id": "i", "name": "f", "input": {"a": 1}},
                        ],
                    },
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": "i", "content": [{"type": "text", "text": "r"}]},
                            {"type": "text", "text": "w"},
                        ],
                    },
                ],
            },
            '[system:st][user:u][assistant:v!{"name": "f", "arguments": {"a": 1}}][tool:r][user:w]',
        ),
        (
            "openai-responses",
            {
                "instructions": "s",
                "input": [
                    {"role": "user", "content": [{"type": "input_text", "text": "u"}]},
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                    {"type": "function_call", "call_id": "i", "name": "f", "arguments": '{"a":1}'},
                    {"type": "function_call", "call_id": "j", "name": "g", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "i", "output": "r"},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "v"}]},
                ],
            },
            '[system:s][user:u][assistant:!{"name": "f", "arguments": {"a": 1}}!{"name": "g", "arguments": {}}]'
            "[tool:r][assistant:v]",
        ),
        ("openai-responses", {"input": "u"}, "[user:u]"),
        (
            "gemini",
            {
                "systemInstruction": {"parts": [{"text": "s"}]},
                "contents": [
                    {"parts": [{"text": "u"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
                    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
                    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"x": 2}}}]},
                ],
            },
            '[system:s][user:u][assistant:!{"name": "f", "arguments": {"a": 1}}][tool:{"x": 2}]',
        ),
        (
            "bedrock-converse",
            {
                "system": [{"text": "s"}, {"cachePoint": {"type": "default"}}],
                "messages": [
                    {"role": "user", "content": [{"text": "u"}]},
                    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "i", "name": "f", "input": {"a": 1}}}]},
                    {"role": "user", "content": [{"toolResult": {"toolUseId": "i", "content": [{"json": {"x": 2}}]}}]},
                ],
            },
            '[system:s][user:u][assistant:!{"name": "f", "arguments": {"a": 1}}][tool:{"x": 2}]',
        ),
    ],
)
def test_bodies_of_every_api(provider: str, body: dict[str, Any], expected: str) -> None:
    assert text_of(render(LIST, body, provider)) == expected


SCHEMA = {"b": 1, "a": 2}
NAMED_TOOL = {"name": "f", "description": "d"}
FUNCTION = NAMED_TOOL | {"parameters": SCHEMA}


@pytest.mark.parametrize(
    ("provider", "tools"),
    [
        ("openai-chat", {"tools": [{"type": "function", "function": FUNCTION}]}),
        ("openai-chat", {"functions": [FUNCTION]}),
        ("anthropic", {"tools": [NAMED_TOOL | {"input_schema": SCHEMA}]}),
        ("openai-responses", {"tools": [{"type": "function", "strict": True} | FUNCTION]}),
        ("gemini", {"tools": [{"functionDeclarations": [FUNCTION]}]}),
        ("bedrock-converse", {"toolConfig": {"tools": [{"toolSpec": NAMED_TOOL | {"inputSchema": {"json": SCHEMA}}}]}}),
    ],
    ids=["chat", "functions", "anthropic", "responses", "gemini", "converse"],
)
def test_tools_of_every_api(provider: str, tools: dict[str, Any]) -> None:
    text = text_of(render("{% for t in tools %}{{ t | tojson }}{% endfor %}", tools, provider))
    assert text == '{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"b": 1, "a": 2}}}'


SYSTEM, USER, ROLE = "/messages/0/content", "/messages/1/content", "/messages/1/role"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ messages[0].content }}", [("  a b,c  ", SYSTEM)]),
        ("<{{ messages[0].content | trim }}>", [("a b,c", SYSTEM)]),
        ("{{ 'x' + messages[0].content[2:3] + messages[1].role }}", [("a", SYSTEM), ("user", ROLE)]),
        ("{{ 'x' ~ messages[0].content.split(',')[1] ~ 1 }}", [("c  ", SYSTEM)]),
        ("{{ messages[0].content.strip().replace(' ', '--') }}", [("a", SYSTEM), ("b,c", SYSTEM)]),
        ("{{ messages | map(attribute='role') | join('+') }}", [("system", "/messages/0/role"), ("user", ROLE)]),
        ("{% set x %}{{ messages[1].role }}{% endset %}{{ x }}", [("user", ROLE)]),
        ("{% macro m(v) %}({{ v }}){% endmacro %}{{ m(messages[1].role) }}", [("user", ROLE)]),
        ("{{ messages[1] | tojson }}", [("user", ROLE), *((part, USER) for part in ("q", '\\"', "\\n", "é"))]),
        ("{{ messages[0].content.rpartition(',')[0].lstrip() }}", [("a b", SYSTEM)]),
        ("{{ messages[0].content.removesuffix('  ').removeprefix(' ') }}", [(" a b,c", SYSTEM)]),
        ("{{ messages[0].content.split() | last }}", [("b,c", SYSTEM)]),
        ("{{ messages[0].content.upper() }}", []),
        ("{{ messages[0].content[:0] }}", []),
    ],
)
def test_text_is_traced_to_the_body(source: str, expected: list[tuple[str, str]]) -> None:
    body = {"messages": [{"role": "system", "content": "  a b,c  "}, {"role": "user", "content": 'q"\né'}]}
    prompt = render(source, body)
    assert pointers(prompt) == expected
    check_places(prompt, body)


def test_place_of_a_character() -> None:
    prompt = render("<{{ messages[0].content | trim }}>", {"messages": [{"role": "user", "content": " ab"}]})
    assert [place_of(prompt.places, at) for at in range(5)] == [
        ("", None),
        ("/messages/0/content", 1),
        ("/messages/0/content", 2),
        ("", None),
        ("", None),
    ]
    assert place_of((), 0) == ("", None)


def test_segments_of_a_rendered_prompt() -> None:
    body = {"system": "s", "messages": [{"role": "user", "content": " ab"}], "tools": [{"name": "f"}]}
    source = (
        "<{{ messages[0].content }}:{{ messages[1].content | trim }}>{{ tools[0].function.name }}{{ messages[1].role }}"
    )
    prompt = render(source, body, "anthropic")
    assert [(s.part, s.pointer, s.text, s.kind) for s in segments_of(prompt)] == [
        ("message", "", "<", "json"),
        ("system", "/system", "s", "text"),
        ("message", "", ":", "json"),
        ("message", "/messages/0/content", "ab", "text"),
        ("message", "", ">", "json"),
        ("tools", "/tools/0/name", "f", "text"),
        ("message", "/messages/0/role", "user", "role"),
    ]
    plain = render(source, body, "anthropic", with_places=False)
    assert (text_of(plain), plain.places) == (text_of(prompt), ())
    assert segments_of(render("x", {"messages": []}))[0].text == "x"


def test_arguments_sent_as_text_are_traced_through_the_parsed_object() -> None:
    arguments = '{"place": "Rom", "why": "a \\"b\\"", "Rom": "Rom"}'
    call = {"type": "function", "function": {"name": "f", "arguments": arguments}}
    body = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    prompt = render("{{ messages[0].tool_calls[0].function.arguments | tojson }}", body)
    places = [(place.char_offset, text_of(prompt)[place.start_char : place.end_char]) for place in prompt.places]
    assert places == [(11, "Rom"), (arguments.rindex("Rom"), "Rom")]


def test_strftime_now_takes_the_option_then_the_time_of_the_request() -> None:
    template = parse_template(b"{{ strftime_now('%d %b %Y') }}", "t.jinja")
    body: dict[str, Any] = {"messages": []}
    assert text_of(render_template(request(body), template, date=DATE)) == "01 Dec 2026"
    assert text_of(render_template(request(body, at_s=86_399.0), template)) == "01 Jan 1970"
    with pytest.raises(InputError, match=r"t\.jinja.*today's date"):
        render_template(request(body), template)


def test_options_of_the_request_win() -> None:
    body = {"messages": [], "chat_template_kwargs": {"enable_thinking": False}}
    assert text_of(render("{{ enable_thinking }}{{ x }}", body, options={"enable_thinking": True, "x": 1})) == "False1"


def test_a_raw_prompt_is_rendered_already() -> None:
    raw = Request("r", "raw", Span("p.txt"), text="as it is")
    assert text_of(render_template(raw, parse_template(b"x", "t.jinja"))) == "as it is"


DOUBLED = "{{% set ns = namespace(x='aaaa') %}}{{% for i in range(60) %}}{{% set ns.x = {} %}}{{% endfor %}}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a\n{% if %}", "t.jinja:2: the template does not compile: Expected an expression"),
        ("a\nb\n{{ raise_exception('no tools here') }}", "t.jinja:3: the chat template fails: no tools here"),
        ("a\n{{ x.y.z }}", "t.jinja:2: the chat template fails: undefined value: 'x' is undefined"),
        ("{{ 'a' + 1 }}", "t.jinja:1: the chat template fails: TypeError: can only concatenate str"),
        ("{{ 1 // 0 }}", "t.jinja:1: the chat template fails: ZeroDivisionError"),
        ("{{ '%d' % 'x' }}", "t.jinja:1: the chat template fails: TypeError"),
        ("{{ messages.append(1) }}", "t.jinja:1: the chat template fails: SecurityError"),
        ("{% include '/etc/passwd' %}", "t.jinja:1: the chat template fails: TypeError: no loader"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "t.jinja:1: the chat template fails: SecurityError"),
        ("{{ lipsum() }}", "t.jinja:1: the chat template fails: undefined value: 'lipsum' is undefined"),
        ("{{ messages | random }}", "t.jinja:1: the template does not compile: No filter named 'random'"),
        ("{% macro m() %}{{ m() }}{% endmacro %}\n{{ m() }}", "t.jinja:1: the chat template fails: RecursionError"),
        (
            "{% for a in range(99999999) %}{% endfor %}",
            "t.jinja:1: the chat template fails: OverflowError: Range too big",
        ),
        (
            "{% set r = range(99999) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}",
            "more than 5,000,000 turns",
        ),
        ("{{ 'a' * 999999999 }}", "t.jinja:1: the chat template fails: SecurityError: the result of * is too large"),
        ("{{ 9 ** 99999999 }}", r"the result of ** is too large"),
        ("{{ 'a'.ljust(999999999) }}", "SecurityError"),
        ("{{ '{:>999999999}'.format('a') }}", "a format is too wide"),
        ("{{ '{:>{w}}'.format('a', w=999999999) }}", "a format is too wide"),
        ("{{ '%*d' % (999999999, 1) }}", "the result of % is too large"),
        (DOUBLED.format("ns.x + ns.x"), "the result of + is too large"),
        (DOUBLED.format("ns.x ~ ns.x"), "more than 200,000,000 characters"),
        (DOUBLED.format("ns.x.replace('a', 'aaaa')"), "the result of replace is too large"),
        (DOUBLED.format("ns.x | replace('a', 'aaaa')"), "the result of replace is too large"),
        (DOUBLED.format("ns.x | list + ns.x | list").replace("ns.x + ", ""), "too large"),
        ("{% set ns = namespace(x=10) %}{% for i in range(60) %}{% set ns.x = ns.x * ns.x %}{% endfor %}", "too large"),
        ("{{ '%999999999d' % 1 }}", "the result of % is too large"),
        ("{% for i in range(99999) %}{{ 'a' * 99999 }}{% endfor %}", "more than 200,000,000 characters"),
    ],
    ids=lambda value: value[:30],
)
def test_faults_and_hostile_templates(source: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        render(source, {"messages": [{"role": "user", "content": "u"}]})


def test_a_template_cannot_change_the_body() -> None:
    with pytest.raises(InputError, match="SecurityError"):
        render("{{ messages[0].update({'role': 'x'}) }}", {"messages": [{"role": "user", "content": "u"}]})


def config(folder: Path, template: Any) -> Path:
    """Write a tokenizer_config.json."""
    file = folder / "tokenizer_config.json"
    tokens = {"bos_token": {"__type": "AddedToken", "content": "<B>"}, "eos_token": "<E>", "unk_token": None}
    file.write_text(json.dumps({"chat_template": template, **tokens}))
    return file


NAMED = [{"name": "default", "template": "{{ bos_token }}d"}, {"name": "tool_use", "template": "t{{ eos_token }}"}]


@pytest.mark.parametrize(
    ("template", "name", "body", "expected"),
    [
        ("{{ bos_token }}x", "", {"messages": []}, "<B>x"),
        (NAMED, "", {"messages": []}, "<B>d"),
        (NAMED, "", {"messages": [], "tools": [{"function": {"name": "f"}}]}, "t<E>"),
        (NAMED, "tool_use", {"messages": []}, "t<E>"),
    ],
)
def test_templates_in_a_config(tmp_path: Path, template: Any, name: str, body: dict[str, Any], expected: str) -> None:
    file = config(tmp_path, template)
    for path in (file, tmp_path):
        assert text_of(render_template(request(body), load_template(str(path), name=name))) == expected


def test_special_tokens_come_from_the_files_beside_a_template(tmp_path: Path) -> None:
    config(tmp_path, None)
    (tmp_path / "chat_template.jinja").write_text("{{ bos_token }}{{ eos_token }}\n")
    (tmp_path / "special_tokens_map.json").write_text('{"bos_token": "<M>", "eos_token": "<M>"}')
    assert text_of(render_template(request({"messages": []}), load_template(str(tmp_path)))) == "<B><E>"


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{}", "it has no chat_template"), (b"{", "not JSON"), (b"[]", "it has no chat_template")],
)
def test_a_config_without_a_template(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "tokenizer_config.json").write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_template(str(tmp_path / "tokenizer_config.json"))


def test_no_such_template(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_template(str(tmp_path / "none.jinja"))
    with pytest.raises(InputError, match="no chat template in it"):
        load_template(str(tmp_path))
    template = load_template(str(config(tmp_path, NAMED)), name="other")
    with pytest.raises(InputError, match="no chat template 'other'; it has: default, tool_use"):
        render_template(request({"messages": []}), template)


def test_a_broken_body_is_an_input_error() -> None:
    broken = Request("r", "openai-chat", Span("log.jsonl"), {"messages": b"[" * 100_000})
    with pytest.raises(InputError, match=r"log\.jsonl: the body cannot be read"):
        render_template(broken, parse_template(b"x", "t.jinja"))
