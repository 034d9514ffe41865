"""The rules about settings files, each at its exact place, on pairs that are made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.check import check_bytes, check_paths
from prefixlint.model import Finding

Found = list[tuple[str, str, str]]

SETTINGS: dict[str, Any] = {
    "api_base": "http://127.0.0.1:8000",
    "api_key_env": "LLM_API_KEY",
    "default_model": "gpt-4o",
    "prefix_cache": {
        "enabled": True,
        "shared_prefix_file": "prefix.txt",
        "reuse_across_requests": True,
        "max_prefix_tokens": 4096,
    },
    "request": {"temperature": 0.2, "top_p": 0.9, "stream": True, "timeout_seconds": 60},
    "observability": {"log_cache_hit": True, "log_gpu_mem": False},
}
CONFIG = """[server]
host = "127.0.0.1"
port = 8000
api_base = "http://127.0.0.1:8000"
api_key = "${LLM_API_KEY}"

[model]
name = "gpt-4o"
max_model_len = 32768
gpu_memory_utilization = 0.9

[prefix_cache]
enable = true
tiering = ["gpu", "cpu", "disk"]
cpu_cache_gb = 16
disk_cache_dir = "kv-cache"
eviction_policy = "lru"
chunk_size = 16
probe_heads = 4

[logging]
level = "info"
"""
# 15 common words and a line end, each one token of o200k_base: four such lines are four chunks of 16.
WORDS = "You are the help desk of this rail line and you answer in one line\n"


def changed(base: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """Copy a document with one value set; ``...`` removes it."""
    copy: dict[str, Any] = json.loads(json.dumps(base))
    *path, last = pointer.split("/")[1:]
    place = copy
    for token in path:
        place = place[token]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return copy


def pair(
    folder: Path, settings: dict[str, Any] = SETTINGS, config: str = CONFIG, prefix: str | None = None
) -> list[str]:
    """Write a pair and its shared prefix; return what to check."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")
    (folder / "config.toml").write_text(config, encoding="utf-8")
    if prefix != "":
        (folder / "prefix.txt").write_text(prefix or WORDS * 4, encoding="utf-8")
    return [str(folder / "settings.json"), str(folder / "config.toml")]


def brief(findings: tuple[Finding, ...]) -> Found:
    """Reduce findings to (rule, file name, flagged text)."""
    return [(f.rule, Path(f.span.path).name, flagged(f)) for f in findings]


def flagged(finding: Finding) -> str:
    data = Path(finding.span.path).read_bytes()
    lines = data.decode().split("\n")
    span = finding.span
    assert data[: span.start_byte].count(b"\n") + 1 == span.line
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    return data[span.start_byte : span.end_byte].decode()


def test_a_healthy_pair_is_silent(tmp_path: Path) -> None:
    assert brief(check_paths(pair(tmp_path)).findings) == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h:1/", [("base-url-slash", "/")]),
        ("http://h:1//", [("base-url-slash", "//")]),
        ("http://h:1/v1", [("base-url-suffix", "/v1")]),
        ("http://h:1/v1/", [("base-url-slash", "/"), ("base-url-suffix", "/v1")]),
        ("http://h:1/api/v2beta", [("base-url-suffix", "/v2beta")]),
        ("http://h:1?x=1", [("base-url-suffix", "?x=1")]),
        ("http://h:1/v1?x=1", [("base-url-suffix", "/v1"), ("base-url-suffix", "?x=1")]),
        ("http://h:1/v1/chat/completions", [("base-url-suffix", "/chat/completions")]),
        ("http://h:1#a", [("base-url-suffix", "#a")]),
        ("http://h:1 ", [("base-url-suffix", " ")]),
        ("http://h:1", []),
        ("http://v1.h:1", []),
        ("http://h:1/team-v1", []),
        ("https://h/models-eu", []),
    ],
)
def test_base_urls_on_both_sides(tmp_path: Path, url: str, expected: list[tuple[str, str]]) -> None:
    config = CONFIG.replace('api_base = "http://127.0.0.1:8000"', f'api_base = "{url}"')
    found = brief(check_paths(pair(tmp_path, changed(SETTINGS, "/api_base", url), config)).findings)
    for name in ("settings.json", "config.toml"):
        assert sorted((r, t) for r, n, t in found if n == name) == sorted(expected)


@pytest.mark.parametrize(
    "other", ["http://127.0.0.1:8000/", "http://localhost:8000", "HTTP://127.0.0.1:8000", "http://127.0.0.1:8001"]
)
def test_both_addresses_must_be_spelled_alike(tmp_path: Path, other: str) -> None:
    found = brief(check_paths(pair(tmp_path, changed(SETTINGS, "/api_base", other))).findings)
    mismatch = [f for f in found if f[0] == "base-url-mismatch"]
    assert mismatch == [
        ("base-url-mismatch", "config.toml", '"http://127.0.0.1:8000"'[1:-1]),
        ("base-url-mismatch", "settings.json", other),
    ]


def test_the_other_half_is_found_in_the_folder_or_on_the_command_line(tmp_path: Path) -> None:
    settings, config = pair(tmp_path / "a", changed(SETTINGS, "/api_base", "http://x"))
    assert brief(check_paths([settings]).findings) == [("base-url-mismatch", "settings.json", "http://x")]
    moved = tmp_path / "server.toml"
    Path(config).rename(moved)
    assert brief(check_paths([settings]).findings) == []
    assert {n for _, n, _ in brief(check_paths([settings, str(moved)]).findings)} == {"settings.json", "server.toml"}


LITERAL = [
    "sk-proj-abcdEFGH1234567890abcd",
    "sk-ant-api03-AAAAbbbb1111CCCCdddd2222",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "hf_abcdefghijABCDEFGHIJ0123456789abcd",
    "gsk_abcdefghijABCDEFGHIJ0123456789abcd",
    "3f9a8c7b6d5e4f3a2b1c0d9e8f7a6b5c",
    "my secret key",
    "Zm9vYmFyYmF6cXV4MTIzNDU2",
]


@pytest.mark.parametrize("key", LITERAL)
def test_a_key_where_its_variable_belongs_is_never_shown(tmp_path: Path, key: str, capsys: Any) -> None:
    paths = pair(tmp_path, changed(SETTINGS, "/api_key_env", key))
    result = check_paths(paths)
    assert [(f.rule, f.pointer) for f in result.findings] == [("literal-key", "/api_key_env")]
    assert key not in repr(result)


@pytest.mark.parametrize(
    "key", ["${LLM_API_KEY}", "", "EMPTY", "os.environ/LLM_API_KEY", "none", "not-needed", "$KEY", "dummy"]
)
def test_a_reference_or_a_dummy_is_no_key(tmp_path: Path, key: str) -> None:
    config = CONFIG.replace("${LLM_API_KEY}", key)
    assert brief(check_paths(pair(tmp_path, config=config)).findings) == []


@pytest.mark.parametrize("key", ["sk-proj-abcdEFGH1234567890abcd", "hunter2hunter2", "3f9a8c7b6d5e4f3a"])
def test_a_key_on_the_server_side(tmp_path: Path, key: str) -> None:
    config = CONFIG.replace("${LLM_API_KEY}", key)
    result = check_paths(pair(tmp_path, config=config))
    assert [(f.rule, f.pointer, f.span.line, f.span.column) for f in result.findings] == [
        ("literal-key", "/server/api_key", 5, 12)
    ]
    assert key not in repr(result)


def test_a_key_inside_an_address(tmp_path: Path) -> None:
    url = "http://user:s3cr3tpass@127.0.0.1:8000"
    result = check_paths(pair(tmp_path, changed(SETTINGS, "/api_base", url)))
    assert "literal-key" in {f.rule for f in result.findings}
    assert "s3cr3tpass" not in repr(result)


def test_the_shared_prefix_must_exist(tmp_path: Path) -> None:
    paths = pair(tmp_path, prefix="")
    assert brief(check_paths(paths).findings) == [("shared-prefix-missing", "settings.json", "prefix.txt")]
    (tmp_path / "prefix.txt").write_text(" \n")
    assert brief(check_paths(paths).findings)[-1] == ("shared-prefix-missing", "settings.json", "prefix.txt")


def test_the_shared_prefix_is_linted_although_it_was_not_given(tmp_path: Path) -> None:
    prefix = WORDS * 4 + "Current time: {{now}}\n"
    found = brief(check_paths(pair(tmp_path, prefix=prefix)[:1]).findings)
    assert ("timestamp", "prefix.txt", "{{now}}") in found


def test_the_shared_prefix_may_have_so_many_tokens(tmp_path: Path) -> None:
    paths = pair(tmp_path, changed(SETTINGS, "/prefix_cache/max_prefix_tokens", 63))
    (found,) = check_paths(paths).findings
    assert (found.rule, flagged(found)) == ("prefix-too-long", "63")
    assert "64 tokens" in found.message
    assert check_paths(pair(tmp_path, changed(SETTINGS, "/prefix_cache/max_prefix_tokens", 64))).findings == ()


def test_the_prefix_limit_must_fit_the_model(tmp_path: Path) -> None:
    paths = pair(tmp_path, changed(SETTINGS, "/prefix_cache/max_prefix_tokens", 40000))
    assert brief(check_paths(paths).findings) == [
        ("prefix-exceeds-model", "config.toml", "32768"),
        ("prefix-exceeds-model", "settings.json", "40000"),
    ]


@pytest.mark.parametrize(
    ("chunk", "lines", "lost"),
    [(16, 4, 0), (48, 4, 16), (256, 4, 64), (17, 4, 13), (32, 5, 16)],
    ids=["whole chunks", "a third lost", "no chunk at all", "no multiple of a block", "five lines of 16"],
)
def test_tokens_behind_the_last_whole_chunk(tmp_path: Path, chunk: int, lines: int, lost: int) -> None:
    config = CONFIG.replace("chunk_size = 16", f"chunk_size = {chunk}")
    found = check_paths(pair(tmp_path, config=config, prefix=WORDS * lines)).findings
    assert {(f.rule, flagged(f)) for f in found} == ({("chunk-prefix-mismatch", str(chunk))} if lost else set())
    if lost and chunk < lines * 16:
        assert any(f"{lost} of {lines * 16}" in f.message for f in found)


def test_a_cache_that_is_off_on_one_side(tmp_path: Path) -> None:
    paths = pair(tmp_path, changed(SETTINGS, "/prefix_cache/enabled", False))
    assert brief(check_paths(paths).findings) == [("cache-disabled", "settings.json", "false")]
    paths = pair(tmp_path, config=CONFIG.replace("enable = true", "enable = false"))
    assert brief(check_paths(paths).findings) == [("cache-disabled", "config.toml", "false")]
    both = pair(
        tmp_path, changed(SETTINGS, "/prefix_cache/enabled", False), CONFIG.replace("enable = true", "enable = false")
    )
    assert brief(check_paths(both).findings) == []
    paths = pair(tmp_path, changed(SETTINGS, "/prefix_cache/reuse_across_requests", False))
    assert brief(check_paths(paths).findings) == [("cache-disabled", "settings.json", "false")]


@pytest.mark.parametrize(
    ("pointer", "value", "rule", "text", "says"),
    [
        ("/prefix_cache/max_prefix_token", 1, "unknown-setting", '"max_prefix_token"', "max_prefix_tokens"),
        ("/prefix_cache/sharedPrefixFile", "x", "unknown-setting", '"sharedPrefixFile"', "shared_prefix_file"),
        ("/request/temprature", 0, "unknown-setting", '"temprature"', "temperature"),
        ("/prefix_cache/max_prefix_tokens", "4096", "invalid-setting", '"4096"', "an integer"),
        ("/prefix_cache/enabled", "yes", "invalid-setting", '"yes"', "true or false"),
        ("/prefix_cache/max_prefix_tokens", 0, "invalid-setting", "0", "at least 1"),
        ("/request/top_p", 1.5, "invalid-setting", "1.5", "at most 1"),
        ("/default_model", None, "invalid-setting", "null", "a string"),
        ("/api_base", "127.0.0.1:8000", "invalid-setting", '"127.0.0.1:8000"', "http://"),
    ],
)
def test_the_schema_names_place_and_nearest_key(
    tmp_path: Path, pointer: str, value: Any, rule: str, text: str, says: str
) -> None:
    base = SETTINGS
    if rule == "unknown-setting":  # the misspelt key stands in the place of the right one
        base = changed(SETTINGS, f"{pointer.rpartition('/')[0]}/{says}", ...)
    paths = pair(tmp_path, changed(base, pointer, value))
    (found,) = [f for f in check_paths(paths[:1]).findings if f.rule == rule]
    assert flagged(found) in (text, text.strip('"'))
    assert found.pointer == pointer
    assert says in found.message


def test_keys_of_ones_own_in_open_sections_are_silent(tmp_path: Path) -> None:
    more = changed(changed(SETTINGS, "/request/user", "x"), "/team", {"name": "a"})
    assert brief(check_paths(pair(tmp_path, more)).findings) == []


def test_the_server_schema(tmp_path: Path) -> None:
    config = CONFIG.replace("chunk_size = 16", "chunksize = 16\ncpu_cache_gb2 = 1").replace('"lru"', '"random"')
    found = [f for f in check_paths(pair(tmp_path, config=config)).findings if f.rule.endswith("-setting")]
    assert [(f.rule, flagged(f)) for f in found] == [
        ("invalid-setting", '"random"'),
        ("unknown-setting", "chunksize"),
        ("unknown-setting", "cpu_cache_gb2"),
    ]
    assert "'chunk_size'" in found[1].message


CODEX = """model_provider = "local"

[model_providers.local]
base_url = "http://127.0.0.1:8000/v1"
env_key = "LLM_API_KEY"
wire_api = "responses"
"""


@pytest.mark.parametrize(
    ("old", "new", "rule", "text"),
    [
        ('model_provider = "local"', 'model_provider = "lokal"', "unknown-provider", "lokal"),
        ('wire_api = "responses"', 'wire_api = "respnses"', "unknown-provider", "respnses"),
        ("/v1", "/v1/", "base-url-slash", "/"),
        ("/v1", "/v1?key=1", "base-url-suffix", "?key=1"),
        ("/v1", "/v1/responses", "base-url-suffix", "/responses"),
        ("LLM_API_KEY", "sk-proj-abcdEFGH1234567890abcd", "literal-key", "sk-proj-abcdEFGH1234567890abcd"),
        ("LLM_API_KEY", "my key", "literal-key", "my key"),
    ],
)
def test_codex(tmp_path: Path, old: str, new: str, rule: str, text: str) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(CODEX.replace(old, new))
    found = [f for f in check_paths([str(path)]).findings if f.severity != "info"]
    assert [(f.rule, flagged(f)) for f in found] == [(rule, text)]


def test_codex_as_it_should_be_has_a_note_at_most() -> None:
    found = check_bytes(".codex/config.toml", CODEX.encode()).findings
    assert [(f.rule, f.severity) for f in found] == [("base-url-suffix", "info")]
    built_in = b'model_provider = "openai"\nmodel = "gpt-5"\n'
    assert check_bytes(".codex/config.toml", built_in).findings == ()


@pytest.mark.parametrize(
    ("mine", "rule"),
    [
        ("You are a clerk.\r\nBe brief.", "newline-style"),
        ("You are a clerk. \nBe brief.", "trailing-whitespace"),
        ("You are a cle\u200brk.\nBe brief.", "bom-or-zero-width"),
        ("You are a clerk.\nBe brief.\n\n\n", "blank-run"),
    ],
)
def test_prompts_that_differ_by_bytes_without_meaning(tmp_path: Path, mine: str, rule: str) -> None:
    paths = []
    for name, text in (("dev", "You are a clerk.\nBe brief."), ("prod", mine)):
        (tmp_path / name).mkdir()
        paths.append(str(tmp_path / name / "app.json"))
        Path(paths[-1]).write_text(json.dumps({"system": text}))
    found = [f for f in check_paths(paths).findings if "differs from" in f.message]
    assert [(f.rule, Path(f.span.path).parent.name, f.pointer) for f in found] == [(rule, "prod", "/system")]


def test_prompts_that_differ_in_meaning_are_silent(tmp_path: Path) -> None:
    paths = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    for path, text in zip(paths, ("You are a clerk.", "You are a cook."), strict=True):
        Path(path).write_text(json.dumps({"system": text}))
    assert check_paths(paths).findings == ()


def test_unicode_forms_of_one_prompt(tmp_path: Path) -> None:
    paths = [str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")]
    for path, text in zip(paths, ("Parlez du caf\u00e9 ici.", "Parlez du cafe\u0301 ici."), strict=True):
        Path(path).write_text(f"system: {text}\n", encoding="utf-8")
    found = [f for f in check_paths(paths).findings if "differs from" in f.message]
    assert [(f.rule, f.span.line, f.span.column) for f in found] == [("unicode-normalization", 1, 22)]
