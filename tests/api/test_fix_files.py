"""Fix prompt files, settings, tool lists and bodies: only bytes without meaning change, everything else stays."""

# ruff: noqa: E501 - the files under test are written as they are

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

from prefixlint.api.fix import FixOptions, fix_paths, save
from prefixlint.api.write import replace_file
from prefixlint.cli._main import group

BOM = b"\xef\xbb\xbf"


def fixed(path: Path, data: bytes, **options: bool) -> bytes:
    """Write a file, fix it, and return what is in it then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    result = fix_paths([str(path)], FixOptions(**options))  # type: ignore[arg-type]
    assert result.errors == ()
    assert save(result) == []
    once = path.read_bytes()
    assert not any(f.changed for f in fix_paths([str(path)], FixOptions(**options)).files)  # type: ignore[arg-type]
    return once


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        pytest.param("p.md", BOM + b"# T \r\n\r\nx\t\r\n", b"# T\n\nx\n", id="bom, line ends, blanks"),
        pytest.param("p.md", b"a  \nb\n", b"a  \nb\n", id="a line break in Markdown stays"),
        pytest.param("p.md", b"```py\nx = 1  \n\n  y \n```\n", b"```py\nx = 1  \n\n  y \n```\n", id="code keeps its blanks"),
        pytest.param("p.md", b"    def f():\n        pass\n", b"    def f():\n        pass\n", id="indentation stays"),
        pytest.param("p.md", "e\u0301 \U0001f469\u200d\U0001f4bb a\u200bb\n".encode(), "é 👩‍💻 ab\n".encode(), id="unicode"),
        pytest.param("p.md", "می\u200cخواهم\n".encode(), "می\u200cخواهم\n".encode(), id="a joiner that has meaning"),
        pytest.param("p.md", b"a\n\n\n\nb\n\n", b"a\n\n\n\nb\n\n", id="empty lines stay"),
        pytest.param("p.md", b"---\r\nname: x \r\n---\r\nYou \r\n", b"---\nname: x \n---\nYou\n", id="front matter"),
        pytest.param("p.jinja", b"{% if a %} \nx\n{%- endif %}\n", b"{% if a %}\nx\n{%- endif %}\n", id="template"),
        pytest.param("x.prompty", b"---\nname: x\n---\nsystem:\nA \nuser:\nB \n", b"---\nname: x\n---\nsystem:\nA\nuser:\nB \n", id="roles"),
    ],
)  # fmt: skip
def test_prompt_files(name: str, before: bytes, after: bytes, tmp_path: Path) -> None:
    assert fixed(tmp_path / name, before) == after


def test_all_blanks(tmp_path: Path) -> None:
    assert fixed(tmp_path / "p.md", b"a  \nb\n```\nx  \n```\n", all_blanks=True) == b"a\nb\n```\nx\n```\n"


SETTINGS = b"""{
  // the prompt of the team
  "github.copilot.chat.codeGeneration.instructions": [
    {"text": "Caf\\u00e9 \\u003cb\\u003e: use tabs. \\r\\nBe short.\\t"}, // keep
  ],
  "editor.tabSize":  4.0, /* odd, but theirs */
  "other": "trailing \\r\\n",
}
"""


def test_comments_and_everything_else_stay(tmp_path: Path) -> None:
    expected = SETTINGS.replace(rb". \r\nBe short.\t", rb".\nBe short.")
    assert fixed(tmp_path / ".vscode" / "settings.json", SETTINGS) == expected


def test_crlf_of_the_file_itself_stays(tmp_path: Path) -> None:
    before = SETTINGS.replace(b"\n", b"\r\n")
    after = before.replace(rb". \r\nBe short.\t", rb".\nBe short.")
    assert fixed(tmp_path / ".vscode" / "settings.json", before) == after


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "config.yaml",
            b"models:\n  - name: a # main\n    roles: [chat]\n    chatOptions:\n      baseSystemMessage: |\n        Be kind. \n        Be short.\n",
            b"models:\n  - name: a # main\n    roles: [chat]\n    chatOptions:\n      baseSystemMessage: |\n        Be kind.\n        Be short.\n",
        ),
        (
            "config.toml",
            b'# main\nmodel = "x"\ndeveloper_instructions = """\nBe kind. \nBe short.\n"""\n[mcp_servers.a]\ncommand = "x "\n',
            b'# main\nmodel = "x"\ndeveloper_instructions = """\nBe kind.\nBe short.\n"""\n[mcp_servers.a]\ncommand = "x "\n',
        ),
    ],
)  # fmt: skip
def test_yaml_and_toml_are_edited_in_place(name: str, before: bytes, after: bytes, tmp_path: Path) -> None:
    folder = ".continue" if name.endswith("yaml") else ".codex"
    assert fixed(tmp_path / folder / name, before) == after


def test_base_url_slash_and_the_shared_prefix_file(tmp_path: Path) -> None:
    (tmp_path / "prefix.txt").write_bytes(b"You are a clerk. \r\n")
    before = b'{\n "api_base": "https://x.example/v1/",\n "prefix_cache": {"shared_prefix_file": "prefix.txt"},\n "n": 1.0\n}\n'
    after = before.replace(b"v1/", b"v1")
    assert fixed(tmp_path / "settings.json", before) == after
    assert (tmp_path / "prefix.txt").read_bytes() == b"You are a clerk.\n"


def test_tool_list_is_sorted_in_its_own_layout(tmp_path: Path) -> None:
    before = b"""{"tools": [
  {"name": "write", "description": "W ", "inputSchema": {"type": "object", "properties": {"z": {}, "a": {}}, "required": ["z"]}},
  {"name": "read", "inputSchema": {"type": "object", "maximum": 105.0}, "description": "R"}
]}
"""
    after = b"""{"tools": [
  {"description": "R", "inputSchema": {"maximum": 105, "type": "object"}, "name": "read"},
  {"description": "W", "inputSchema": {"properties": {"z": {}, "a": {}}, "required": ["z"], "type": "object"}, "name": "write"}
]}
"""
    assert fixed(tmp_path / "tools.json", before) == after


def test_a_locked_tool_order_is_kept(tmp_path: Path) -> None:
    tools = b'[{"name": "b", "parameters": {}}, {"name": "a", "parameters": {}}]'
    path = tmp_path / "tools.json"
    path.write_bytes(b'[{"name": "b", "parameters": {}}, {"name": "a", "parameters": {}}]')
    entry = {"sha256": "0", "tokens": 1, "first": [], "tools": ["b", "a"]}
    lock = {"version": 1, "tokenizer": "o200k_base", "prefixes": {"tools.json": entry}}
    (tmp_path / "prefixlint.lock").write_text(json.dumps(lock))
    assert fixed(path, tools) == tools


def test_a_single_body_becomes_canonical_where_the_developer_wrote(tmp_path: Path) -> None:
    before = b"""{
 "temperature": 1.0, "model": "m",
 "tools": [{"type": "function", "function": {"name": "b"}}, {"type": "function", "function": {"name": "a"}}],
 "messages": [
  {"role": "system", "content": "Hi. \\r\\n"},
  {"role": "user", "content": "keep \\r\\n"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "a", "arguments": "{\\"z\\": 1.0, \\"a\\": 2}"}}]}
 ]
}
"""
    after = before.replace(
        b'{"type": "function", "function": {"name": "b"}}, {"type": "function", "function": {"name": "a"}}',
        b'{"function": {"name": "a"}, "type": "function"}, {"function": {"name": "b"}, "type": "function"}',
    ).replace(rb"Hi. \r\n", rb"Hi.\n")
    assert fixed(tmp_path / "body.json", before) == after


def test_big_numbers_and_duplicates_survive(tmp_path: Path) -> None:
    schema = b'{"z": 1e400, "minimum": 123456789012345678901234567890, "x": 1, "x": 2}'
    before = (
        b'{"tools": [{"input_schema": ' + schema + b', "name": "a"}], "messages": [{"role": "user", "content": "x"}]}'
    )
    assert fixed(tmp_path / "b.json", before) == before


def test_settings_files_agree_or_say_where_they_do_not(tmp_path: Path) -> None:
    paths = []
    for name, text in (
        ("dev", "You are kind.\\r\\nBe short.\\n"),
        ("prod", "You are kind. \\nBe short."),
        ("qa", "You are mean."),
    ):
        path = tmp_path / name / "settings.json"
        path.parent.mkdir()
        path.write_text(f'{{"system_prompt": "{text}", "api_base": "https://{name}.example"}}')
        paths.append(str(path))
    result = fix_paths(paths)
    save(result)
    prompts = [json.loads(Path(p).read_text())["system_prompt"] for p in paths]
    assert prompts[0].rstrip("\n") == prompts[1].rstrip("\n") == "You are kind.\nBe short."
    assert any("differs from" in n.message and "character 8" in n.message for n in result.notes)
    two = fix_paths(paths[:2])
    save(two)
    assert len({json.loads(Path(p).read_text())["system_prompt"] for p in paths[:2]}) == 1


def test_compressed_logs(tmp_path: Path) -> None:
    lines = [
        {"model": "m", "messages": [{"role": "system", "content": t}, {"role": "user", "content": "x"}]}
        for t in ("A\nB", "A\r\nB")
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    for name, packed in (("l.jsonl.gz", gzip.compress(data)), ("l.jsonl.zst", zstandard.compress(data))):
        (tmp_path / name).write_bytes(packed)
        copy = tmp_path / f"{name}.jsonl"
        assert CliRunner().invoke(group, ["fix", str(tmp_path / name), "-o", str(copy)]).exit_code == 1
        assert copy.read_bytes() == data.replace(b"\\r", b"")
        assert (tmp_path / name).read_bytes() == packed
        assert CliRunner().invoke(group, ["fix", str(tmp_path / name)]).exit_code == 1
        assert CliRunner().invoke(group, ["fix", "--check", str(tmp_path / name)]).exit_code == 0


def test_command_line(tmp_path: Path) -> None:
    path = tmp_path / "p.md"
    path.write_bytes("a \nb\u200bc\n".encode())
    run = CliRunner().invoke(group, ["fix", "--diff", str(path)])
    assert (run.exit_code, path.read_bytes()) == (1, "a \nb\u200bc\n".encode())
    assert "-a\\x20\n" in run.stdout and "-b\\u200bc\n" in run.stdout and "+bc\n" in run.stdout
    assert CliRunner().invoke(group, ["canonicalize", "--check", str(path)]).exit_code == 1
    assert CliRunner().invoke(group, ["fix", "--backup", str(path)]).exit_code == 1
    assert (path.read_bytes(), (tmp_path / "p.md.bak").read_bytes()) == (b"a\nbc\n", "a \nb\u200bc\n".encode())
    assert CliRunner().invoke(group, ["fix", str(path)]).exit_code == 0
    (tmp_path / "broken.json").write_bytes(b'{"system_prompt": ')
    broken = CliRunner().invoke(group, ["fix", str(path), str(tmp_path / "broken.json")])
    assert broken.exit_code == 2
    assert "broken.json:1:" in broken.stderr
    path.write_bytes(b"a \n")
    assert CliRunner().invoke(group, ["fix", str(path), str(tmp_path / "broken.json")]).exit_code == 3


def test_mode_bits_and_symlinks_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.md"
    real.write_bytes(b"a \n")
    real.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(real)
    save(fix_paths([str(link)]))
    assert link.is_symlink() and real.read_bytes() == b"a\n"
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.md", "real.md"]


def test_nothing_is_rewritten_without_need(tmp_path: Path) -> None:
    path = tmp_path / "p.md"
    path.write_bytes(b"a\n")
    os.utime(path, (1, 1))
    save(fix_paths([str(path)]))
    assert path.stat().st_mtime == 1


def test_killed_at_any_moment_the_file_is_old_or_new(tmp_path: Path) -> None:
    path = tmp_path / "big.bin"
    old, new = b"old\n" * 300_000, b"new\n" * 300_000
    code = "import sys\nfrom prefixlint.api.write import replace_file\nprint('go', flush=True)\n"
    code += f"while True:\n    replace_file({str(path)!r}, b'new\\n' * 300_000)\n"
    code += f"    replace_file({str(path)!r}, b'old\\n' * 300_000)\n"
    draw = random.Random(4)
    replace_file(str(path), old)
    for _ in range(12):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(draw.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert path.read_bytes() in (old, new)
