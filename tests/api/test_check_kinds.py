"""Each kind of file that ``check`` reads: the flagged text stands exactly where the finding says."""

# ruff: noqa: E501

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from prefixlint.api.check import CheckOptions, check_bytes, check_paths
from prefixlint.model import Finding

SAMPLES = Path(__file__).parent.parent / "data" / "settings"


def place_of(text: str, needle: str) -> tuple[int, int, int, int]:
    """Find a needle by hand: line, column, end line and end column, from 1, in code points."""
    assert text.count(needle) >= 1, needle
    start = text.index(needle)
    end = start + len(needle)
    return (
        text[:start].count("\n") + 1,
        start - (text[:start].rfind("\n") + 1) + 1,
        text[:end].count("\n") + 1,
        end - (text[:end].rfind("\n") + 1) + 1,
    )


def place(finding: Finding) -> tuple[int, int, int, int]:
    span = finding.span
    return (span.line, span.column, span.end_line, span.end_column)


# file, rule, the text that is flagged, its pointer
FOUND = [
    ("aider/.aider.model.settings.yml", "timestamp", "{{ now }}", "/0/system_prompt_prefix"),
    ("chat-template/chat_template.jinja", "template-injected", "strftime_now('%d %b %Y')", ""),
    ("claude-code/.claude/settings.json", "git-status", "git status", "/hooks/SessionStart/0/hooks/0/command"),
    ("claude-code/CLAUDE.md", "timestamp", "2026-03-02 09:14", ""),
    ("claude-code/.claude/agents/reviewer.md", "git-status", "!`git branch --show-current`", ""),
    ("codex/.codex/config.toml", "random-id", "{{ session }}", "/developer_instructions"),
    ("codex/.codex/config.toml", "base-url-suffix", "/v1", "/model_providers/local/base_url"),
    ("continue/config.yaml", "date", "{{ date }}", "/models/0/chatOptions/baseSystemMessage"),
    ("dotprompt/helpdesk.prompt", "timestamp", "{{@now}}", ""),
    ("gemini-cli/.gemini/settings.json", "cwd-or-env", "true", "/context/includeDirectoryTree"),
    ("generic/config.toml", "base-url-suffix", "/v1", "/server/api_base"),
    ("generic/config.toml", "chunk-prefix-mismatch", "256", "/prefix_cache/chunk_size"),
    ("generic/settings.json", "base-url-suffix", "/v1", "/api_base"),
    ("generic/prompts/shared_prefix.txt", "date", "{{ date }}", ""),
    ("langchain/prompt.json", "date", "{date}", "/template"),
    ("librechat/librechat.yaml", "date", "{{current_date}}", "/modelSpecs/list/0/preset/promptPrefix"),
    ("open-webui/models-export.json", "timestamp", "{{CURRENT_TIME}}", "/0/params/system"),
    ("openai-assistant/assistant.json", "date", "2026-03-02", "/instructions"),
    ("promptfoo/prompts/chat.json", "timestamp", "{{now}}", "/0/content"),
    ("prompty/helpdesk.prompty", "date", "{{date}}", ""),
    ("prompty/helpdesk-v2.prompty", "date", "{{date}}", ""),
    (
        "vscode/.vscode/settings.json",
        "date",
        "2026-03-02",
        "/github.copilot.chat.commitMessageGeneration.instructions/0/text",
    ),
]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Finding, ...]]:
    folder = tmp_path_factory.mktemp("samples") / "project"
    shutil.copytree(SAMPLES, folder)
    result = check_paths([str(folder)])
    assert not [e for i in result.inputs for e in i.errors]
    return folder, result.findings


@pytest.mark.parametrize(("name", "rule", "needle", "pointer"), FOUND, ids=[f"{f[0]}-{f[1]}" for f in FOUND])
def test_samples(samples: tuple[Path, tuple[Finding, ...]], name: str, rule: str, needle: str, pointer: str) -> None:
    folder, findings = samples
    text = (folder / name).read_text(encoding="utf-8")
    found = [f for f in findings if f.span.path == str(folder / name) and f.rule == rule]
    assert (place_of(text, needle), pointer) in [(place(f), f.pointer) for f in found]


def test_samples_that_are_clean_stay_silent(samples: tuple[Path, tuple[Finding, ...]]) -> None:
    folder, findings = samples
    flagged = {Path(f.span.path).relative_to(folder).parts[0] for f in findings}
    assert flagged.isdisjoint({"zed", "cursor", "opencode", "vllm", "litellm"})


# A file of each kind that nobody sampled: path, contents, rule, flagged text, pointer.
MORE = [
    ("conf/app.yaml", "bot:\n  system_prompt: |\n    You help.\n    Current time: {{now}}\n", "timestamp", "{{now}}", "/bot/system_prompt"),
    ("conf/app.yml", "instructions: >-\n  You help. The é time is\n  Current time: {{now}}\n", "timestamp", "{{now}}", "/instructions"),
    ("app.toml", '[bot]\nsystem = """\nYou help.\nCurrent time: {{now}}\n"""\n', "timestamp", "{{now}}", "/bot/system"),
    ("a.json", '{"x": {"systemPrompt": "\\u00e9 Current time: {{now}}"}}', "timestamp", "{{now}}", "/x/systemPrompt"),
    ("a.jsonc", '{\n // c\n "prompt": "Hi.\\nCurrent time: {{now}}",\n}', "timestamp", "{{now}}", "/prompt"),
    ("tools.json", '[{"name": "f", "description": "Current time: {{now}}", "input_schema": {"type": "object"}}]', "timestamp", "{{now}}", "/0/description"),
    ("mcp.json", '{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "f", "description": "Generated at 2026-08-22T10:04:11Z", "inputSchema": {"type": "object"}}]}}', "timestamp", "2026-08-22T10:04:11Z", "/result/tools/0/description"),
    ("body.json", '{"model": "m", "messages": [{"role": "system", "content": "Current time: 2026-08-22 10:04:11"}, {"role": "user", "content": "hi"}]}', "timestamp", "2026-08-22 10:04:11", "/messages/0/content"),
    ("wrapped.json", '{"custom_id": "1", "body": {"model": "m", "messages": [{"role": "system", "content": "Current time: 2026-08-22 10:04:11"}]}}', "timestamp", "2026-08-22 10:04:11", "/messages/0/content"),
    ("gem.json", '{"systemInstruction": {"parts": [{"text": "Current time: 2026-08-22 10:04:11"}]}, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}', "timestamp", "2026-08-22 10:04:11", "/systemInstruction/parts/0/text"),
    ("prompts/x.md", "---\nname: x\nupdated: 2026-08-22T10:04:11Z\n---\nYou help.\nCurrent time: {{now}}\n", "timestamp", "{{now}}", ""),
    ("tokenizer_config.json", '{"chat_template": "{{ strftime_now(\'%H:%M\') }}{% for m in messages %}{{ m.content }}{% endfor %}"}', "template-injected", "strftime_now('%H:%M')", "/chat_template"),
    ("t.erb", "You help.\nCurrent time: <%= now %>\n", "timestamp", "<%= now %>", ""),
    ("t.hbs", "You help.\nCurrent time: {{{now}}}\n", "timestamp", "{{now}}", ""),
    (".cursor/rules/a.mdc", "---\ndescription: x\n---\nCurrent time: {{now}}\n", "timestamp", "{{now}}", ""),
    ("opencode.json", '{"agent": {"r": {"prompt": "You review.\\nCurrent time: {{now}}"}}}', "timestamp", "{{now}}", "/agent/r/prompt"),
    (".continue/config.yaml", "models: []\nrules:\n  - name: a\n    rule: |\n      Current time: {{now}}\n", "timestamp", "{{now}}", "/rules/0/rule"),
    ("librechat.yaml", "modelSpecs:\n  list:\n    - preset: {promptPrefix: 'It''s é. Current time: {{now}}'}\n", "timestamp", "{{now}}", "/modelSpecs/list/0/preset/promptPrefix"),
    ("x.prompt.yml", "messages:\n  - role: system\n    content: |\n      You help.\n      Current time: {{now}}\n", "timestamp", "{{now}}", "/messages/0/content"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "rule", "needle", "pointer"), MORE, ids=[m[0] for m in MORE])
def test_other_files_of_these_kinds(name: str, text: str, rule: str, needle: str, pointer: str) -> None:
    result = check_bytes(name, text.encode())
    found = [(place(f), f.pointer) for f in result.findings if f.rule == rule]
    assert (place_of(text, needle), pointer) in found


# Text that is no prompt, or says nothing volatile.
SILENT = [
    ("a.json", '{"created": "2026-08-22T10:04:11Z", "id": "9f2c1b7e4a5d4c33"}'),
    ("a.json", '{"prompt": "now"}'),
    ("conf.yaml", "prompt: yes\nupdated: 2026-08-22 10:04:11\n"),
    ("prompts/x.md", "---\nupdated: 2026-08-22T10:04:11Z\n---\nYou help.\n"),
    (
        "x.prompt.yml",
        "messages:\n  - {role: system, content: You help.}\ntestData:\n  - {now: '2026-08-22 10:04:11'}\n",
    ),
    (
        "promptfooconfig.yaml",
        "prompts: ['Hi {{q}}']\nproviders: []\ntests:\n  - vars: {prompt: 'Current time: {{now}}'}\n",
    ),
    ("x.prompty", "---\nname: x\n---\nsystem:\nYou help.\n\nuser:\nCurrent time: {{now}}\n"),
    ("x.prompt", '{{role "system"}}\nYou help.\n{{role "user"}}\nCurrent time: {{now}}\n'),
]


@pytest.mark.parametrize(("name", "text"), SILENT, ids=[f"{n}-{i}" for i, (n, _) in enumerate(SILENT)])
def test_silent(name: str, text: str) -> None:
    found = check_bytes(name, text.encode(), CheckOptions()).findings
    assert [f.rule for f in found if f.severity != "info"] == []


def test_front_matter_description_is_shown_to_the_model() -> None:
    text = "---\nname: x\ndescription: Reviews. Current time: 2026-08-22 10:04:11\n---\nYou review.\n"
    (found,) = check_bytes(".claude/agents/x.md", text.encode()).findings
    assert place(found) == place_of(text, "2026-08-22 10:04:11")


def test_a_bom_is_at_the_very_start() -> None:
    for text in ("\ufeffYou help.\n", "\ufeff---\nname: x\n---\nYou help.\n"):
        found = check_bytes("prompts/x.md", text.encode()).findings
        assert [(f.rule, f.span.line, f.span.column) for f in found] == [("bom-or-zero-width", 1, 1)]


def test_broken_files_say_where() -> None:
    result = check_bytes("a.json", b'{"a": 1,\n "b": }')
    assert result.inputs[0].errors == ("a.json:2:7: expected a JSON value",)
    result = check_bytes("a.toml", b"a = 1\nb = = 2\n")
    assert result.inputs[0].errors[0].startswith("a.toml:2:5: not valid TOML")
    result = check_bytes("a.yaml", b"a: [1\nb: 2\n")
    assert result.inputs[0].errors[0].startswith("a.yaml:2:")
    result = check_bytes("a.md", b"ok\nab\xff\n")
    assert result.inputs[0].errors == ("a.md:2:3: byte 0xff is not UTF-8; save the file as UTF-8",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"system": "You help.", "x": {"n": 1, "m": 2, "n": 3}}'),
        ("a.jsonc", '{"x": {"n": 1, /* again */ "n": 3}}'),
        ("a.yaml", "x:\n  n: 1\n  m: 2\n  n: 3\n"),
    ],
)
def test_a_key_that_occurs_twice(name: str, text: str) -> None:
    (found,) = check_bytes(name, text.encode()).findings
    start = text.rindex('"n"') if '"n"' in text else text.rindex("n: 3")
    width = 3 if '"n"' in text else 1
    assert (found.rule, found.pointer) == ("duplicate-key", "/x/n")
    assert (found.span.start_byte, found.span.end_byte) == (start, start + width)


def test_a_log_names_each_place_once(tmp_path: Path) -> None:
    line = '{{"model": "m", "messages": [{{"role": "system", "content": "Current time: 2026-08-22 10:04:{0}"}}]}}\n'
    path = tmp_path / "log.jsonl"
    path.write_text("".join(line.format(10 + n) for n in range(5)) + "{\n")
    result = check_paths([str(path)])
    assert [(f.rule, f.span.line, f.span.record, f.pointer) for f in result.findings] == [
        ("timestamp", 1, 0, "/messages/0/content")
    ]
    assert flagged_text(path, result.findings[0]) == "2026-08-22 10:04:10"
    assert result.inputs[0].requests == 5
    assert len(result.inputs[0].errors) == 1


def flagged_text(path: Path, finding: Finding) -> str:
    return path.read_bytes()[finding.span.start_byte : finding.span.end_byte].decode()


def test_overriding_a_merged_key_is_no_repetition() -> None:
    text = "base: &base\n  n: 1\n  m: 2\nx:\n  <<: *base\n  n: 3\n"
    assert check_bytes("a.yaml", text.encode()).findings == ()


def test_a_log_on_standard_input() -> None:
    line = '{"model": "m", "messages": [{"role": "system", "content": "Current time: 2026-08-22 10:04:11"}]}\n'
    result = check_bytes("logs/a.jsonl", (line + "{\n").encode())
    assert [(f.rule, f.span.path, f.span.line) for f in result.findings] == [("timestamp", "logs/a.jsonl", 1)]
    assert result.inputs[0].errors[0].startswith("logs/a.jsonl:2:")


def test_hostile_files_end_soon_and_with_a_message() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 9))
    assert "too many aliases" in check_bytes("a.yaml", bomb.encode()).inputs[0].errors[0]
    deep = "a = " + "[" * 5000 + "]" * 5000
    assert "nested too deeply" in check_bytes("a.toml", deep.encode()).inputs[0].errors[0]
    assert check_bytes("a.json", b"[" * 5000 + b"]" * 5000).inputs[0].errors == ()
    assert check_bytes("a.yaml", b"? [a]\n: 1\n? [b]\n: 2\n").findings == ()
