"""What surrounds the findings of source: places, ways, fixes, exceptions, packages, notebooks, broken files."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest

from prefixlint.api.source import SourceOptions, check_source, check_sources
from prefixlint.errors import InputError
from prefixlint.model import Finding

HEAD = "from datetime import datetime\nimport json, os, uuid\nfrom openai import OpenAI\nclient = OpenAI()\n"


def found(text: str, name: str = "a.py", options: SourceOptions | None = None) -> list[Finding]:
    """Lint a text as a file of that name."""
    return list(check_source(name, text.encode(), options))


def ask(system: str) -> str:
    """Write a module that sends ``system`` as instructions."""
    return HEAD + f"def ask(q, ctx):\n    return client.responses.create(model='m', instructions={system}, input=q)\n"


def test_place_counts_code_points() -> None:
    (one,) = found(ask("f'Zürich, {datetime.now()}, sort the letters'"))
    assert (one.rule, one.span.line) == ("timestamp", 6)
    line = ask("f'Zürich, {datetime.now()}, sort the letters'").splitlines()[5]
    assert one.span.column == line.index("datetime.now()") + 1
    assert one.span.end_column == one.span.column + len("datetime.now()")


def test_way_from_source_to_sink() -> None:
    text = HEAD + (
        "def stamp():\n    now = datetime.now()\n    return f'Now {now}'\n"
        "def ask(q):\n    return client.responses.create(model='m', instructions=stamp(), input=q)\n"
    )
    (one,) = found(text)
    assert [s.span.line for s in one.trace] == [6, 6, 7, 9, 9]
    assert one.trace[0].text == "datetime.now()"
    assert "responses.create" in one.trace[-1].text


@pytest.mark.parametrize(
    ("before", "after", "trust"),
    [
        pytest.param("'P: ' + json.dumps(ctx)", "'P: ' + json.dumps(ctx, sort_keys=True)", "safe", id="json"),
        pytest.param(
            "'P: ' + json.dumps(ctx,)", "'P: ' + json.dumps(ctx, sort_keys=True)", "safe", id="trailing-comma"
        ),
        pytest.param(
            "'F: ' + ','.join(os.listdir(q))", "'F: ' + ','.join(sorted(os.listdir(q)))", "safe", id="listing"
        ),
        pytest.param("'S: ' + ','.join(set(q))", "'S: ' + ','.join(sorted(set(q)))", "unsafe", id="set"),
    ],
)
def test_fix_is_applied_by_bytes_and_leaves_nothing(before: str, after: str, trust: str) -> None:
    data = ask(before).encode()
    (one,) = check_source("a.py", data)
    assert one.fix is not None and one.fix.trust == trust
    for edit in sorted(one.fix.edits, key=lambda e: -e.start_byte):
        data = data[: edit.start_byte] + edit.new + data[edit.end_byte :]
    ast.parse(data)
    assert ast.dump(ast.parse(data)) == ast.dump(ast.parse(ask(after)))
    assert found(data.decode()) == []


def test_clock_is_only_shown() -> None:
    (one,) = found(ask("f'Now {datetime.now()}'"))
    assert one.fix is not None and one.fix.trust == "display" and not one.fix.edits


def test_date_is_a_hint() -> None:
    (one,) = found(ask("f'Today {datetime.now():%Y-%m-%d}, sort the letters'"))
    assert (one.rule, one.severity) == ("date", "info")


@pytest.mark.parametrize(
    ("comment", "rules"),
    [
        pytest.param("# prefixlint: allow[timestamp]", [], id="allowed"),
        pytest.param("# prefixlint: allow[timestamp, uuid]", ["unused-allow"], id="one-unused"),
        pytest.param("# prefixlint: allow[clock]", ["timestamp", "unused-allow"], id="unknown-id"),
        pytest.param("# prefixlint: allow", ["timestamp"], id="no-id"),
    ],
)
def test_exceptions(comment: str, rules: list[str]) -> None:
    text = HEAD + f"SYSTEM_PROMPT = f'Now {{datetime.now()}}, sort.'  {comment}\n"
    assert sorted(f.rule for f in found(text)) == rules


def test_exception_above_and_in_a_string() -> None:
    above = HEAD + "# prefixlint: allow[timestamp]\nSYSTEM_PROMPT = f'Now {datetime.now()}, sort.'\n"
    assert found(above) == []
    text = HEAD + "SYSTEM_PROMPT = f'Now {datetime.now()} # prefixlint: allow[timestamp]'\n"
    assert [f.rule for f in found(text)] == ["timestamp"]


def test_exception_in_other_languages() -> None:
    text = "const a = new OpenAI();\nconst SYSTEM_PROMPT = `Now ${new Date()} x`; // prefixlint: allow[timestamp]\n"
    assert found(text, "a.ts") == []


def test_helpers_across_the_files_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "desk"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "clock.py").write_text(
        "from datetime import datetime\ndef line():\n    return f'Now {datetime.now()}'\n"
    )
    (package / "ask.py").write_text(
        "from openai import OpenAI\nfrom .clock import line\n"
        "def ask(q):\n    return OpenAI().responses.create(model='m', instructions=line() + ' Sort.', input=q)\n"
    )
    items = list(check_sources([str(p) for p in sorted(package.glob("*.py"))], SourceOptions(jobs=1)))
    assert [(Path(f.span.path).name, f.span.line, f.rule) for f in items if isinstance(f, Finding)] == [
        ("clock.py", 3, "timestamp")
    ]


def test_configured_names() -> None:
    text = "import uuid\nfrom house import say\nsay(f'Ticket {uuid.uuid4()}')\n"
    assert found(text) == []
    assert [f.rule for f in found(text, options=SourceOptions({"say": "system"}))] == ["uuid"]


def test_broken_file_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    (tmp_path / "b.py").write_text(HEAD + "SYSTEM_PROMPT = f'Now {datetime.now()}, sort.'\n")
    items = list(check_sources([str(tmp_path / "a.py"), str(tmp_path / "b.py")]))
    assert isinstance(items[0], InputError) and (items[0].line, items[0].column) == (1, 7)
    assert isinstance(items[1], Finding)


def test_two_processes_find_the_same(tmp_path: Path) -> None:
    source = Path(__file__).parent.parent / "data" / "source" / "hazards.py"
    for i in range(48):
        shutil.copy(source, tmp_path / f"m{i}.py")
    paths = [str(p) for p in sorted(tmp_path.glob("*.py"))][:41]
    many = [f for f in check_sources(paths, SourceOptions(jobs=2)) if isinstance(f, Finding)]
    assert len(many) == 41 * 27


def test_notebook() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Now\n"]},
        {"cell_type": "code", "source": ["%pip install openai\n", "from datetime import datetime\n", "import openai"]},
        {"cell_type": "code", "source": ["!ls\n", 'SYSTEM_PROMPT = f"Nöw {datetime.now()}, sort."\n']},
        {"cell_type": "code", "source": "%%bash\nls"},
    ]
    text = json.dumps({"cells": cells}, indent=1)
    (one,) = found(text, "a.ipynb")
    assert (one.rule, one.pointer) == ("timestamp", "/cells/2/source/1")
    row = next(i for i, line in enumerate(text.splitlines(), 1) if "SYSTEM_PROMPT" in line)
    assert one.span.line == row
    assert text.encode()[one.span.start_byte : one.span.end_byte] == b"datetime.now()"
    assert "cell 3, line 2" in one.message


def test_unknown_language_gives_nothing() -> None:
    assert found("whatever", "a.xyz") == []


# The seven shapes that a tool of one file and one call form misses.
SHAPES = {
    "wrapper": "def send(system, q):\n    return client.responses.create(model='m', instructions=system, input=q)\n"
    "def ask(q):\n    return send(f'Now {datetime.now()}, sort', q)\n",
    "append": "def start(out):\n    out.append({'role': 'system', 'content': f'Now {datetime.now()}'})\n"
    "def ask(q):\n    messages = []\n    start(messages)\n    messages.append({'role': 'user', 'content': q})\n"
    "    return client.chat.completions.create(model='m', messages=messages)\n",
    "mapping": "def ask(q):\n    req = {'model': 'm', 'input': q}\n    req['instructions'] = f'Now {datetime.now()}'\n"
    "    return client.responses.create(**req)\n",
    "langchain": "from langchain_core.messages import SystemMessage\ndef ask(llm, q):\n"
    "    return llm.invoke([SystemMessage(content=f'Now {datetime.now()}'), q])\n",
    "jinja": "from jinja2 import Template\ndef ask(q):\n"
    "    s = Template('Now {{ now }}, sort').render(now=datetime.now())\n"
    "    return client.responses.create(model='m', instructions=s, input=q)\n",
    "gemini": "import google.generativeai as genai\ndef ask(q):\n"
    "    return genai.GenerativeModel('g', system_instruction=f'Now {datetime.now()}').generate_content(q)\n",
    "glob": "import glob\ndef ask(q):\n    names = glob.glob('*.md')\n"
    "    return client.responses.create(model='m', instructions='Files: ' + ' '.join(names), input=q)\n",
}


@pytest.mark.parametrize("name", SHAPES)
def test_seven_shapes(name: str) -> None:
    (one,) = found(HEAD + SHAPES[name])
    assert one.rule == ("list-order" if name == "glob" else "timestamp")


@pytest.mark.parametrize(
    "suffix", [".py", ".ts", ".js", ".go", ".rs", ".java", ".kt", ".swift", ".rb", ".cs", ".ipynb"]
)
@pytest.mark.parametrize("data", [b"", b"\x00\xff", b"((((", b"prompt = \xff", b"\xef\xbb\xbfprompt"], ids=repr)
def test_any_bytes_end_in_findings_or_an_input_error(suffix: str, data: bytes) -> None:
    try:
        list(check_source(f"a{suffix}", data))
    except InputError as error:
        assert error.path == f"a{suffix}"
