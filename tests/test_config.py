"""The configuration file: what it may hold, how errors point at it, which file wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixlint import config
from prefixlint.errors import ConfigError


@pytest.fixture(autouse=True)
def _fresh() -> None:
    config.forget()


def write(folder: Path, text: str, name: str = "prefixlint.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_every_key(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
select = ["date"]
ignore = ["uuid"]
exclude = ["vendor/"]
include = ["*.tmpl"]
rule-paths = ["cards"]
prompt-pointers = ["/a/*/b"]
prompt-sinks = { build_prompt = "system" }
min-confidence = "low"
baseline = "base.json"
[per-path]
"tests/**" = ["date"]
[allow]
"settings.json#/system" = ["date"]
"notes.md" = ["uuid"]
""",
    )
    found = config.load(tmp_path / "x.md")
    assert (found.select, found.ignore, found.exclude, found.include) == (
        ("date",),
        ("uuid",),
        ("vendor/",),
        ("*.tmpl",),
    )
    assert found.rule_paths == (tmp_path / "cards",)
    assert found.baseline == tmp_path / "base.json"
    assert found.pointers_for(tmp_path / "y.json") == ("/a/*/b",)
    assert found.prompt_sinks == {"build_prompt": "system"}
    assert found.min_confidence == "low"
    assert found.per_path == {"tests/**": ("date",)}
    assert [(a.glob, a.pointer, a.rules) for a in found.allow] == [
        ("settings.json", "/system", ("date",)),
        ("notes.md", None, ("uuid",)),
    ]


def test_the_nearest_file_wins_and_a_pyproject_without_our_table_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, '[tool.prefixlint]\nignore = ["date"]\n', "pyproject.toml")
    write(tmp_path / "a", '[project]\nname = "prefixlint-user"\n', "pyproject.toml")
    write(tmp_path / "b", 'ignore = ["uuid"]\n')
    assert config.load(tmp_path / "a" / "x.md").ignore == ("date",)
    assert config.load(tmp_path / "b" / "x.md").ignore == ("uuid",)
    write(tmp_path / "b", '[tool.prefixlint]\nignore = ["epoch"]\n', "pyproject.toml")
    config.forget()
    assert config.load(tmp_path / "b" / "x.md").ignore == ("uuid",)


def test_a_named_file_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such configuration file"):
        config.load(tmp_path, str(tmp_path / "none.toml"))
    bare = write(tmp_path, "[project]\n", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"no \[tool.prefixlint\] table"):
        config.load(tmp_path, str(bare))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('ignore = []\nselekt = ["date"]\n', 2, "unknown key 'selekt'; did you mean 'select'?"),
        ('\n\nminconfidence = "low"\n', 3, "did you mean 'min-confidence'?"),
        ('min-confidence = "sure"\n', 1, "one of low, medium, high"),
        ('ignore = "date"\n', 1, "'ignore' must be a list of strings"),
        ('[allow]\n"a.json#system" = ["date"]\n', 1, "must be a JSON pointer"),
        ('prompt-pointers = ["a"]\n', 1, "must start with '/'"),
        ('prompt-sinks = { f = "sys" }\n', 1, "must be one of system, tools"),
        ("per-path = []\n", 1, "'per-path' must be a table"),
        ("baseline = 1\n", 1, "'baseline' must be a string"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert says in str(caught.value)


def test_broken_toml_names_its_place(tmp_path: Path) -> None:
    write(tmp_path, "ignore = [\n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        config.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "glob", "expected"),
    [
        ("a/b/c.md", "*.md", True),
        ("a/b/c.md", "a/*.md", False),
        ("a/b/c.md", "a/**/*.md", True),
        ("a/c.md", "a/**/*.md", True),
        ("a/b/c.md", "**/c.md", True),
        ("c.md", "**/c.md", True),
        ("tests/x/y.md", "tests/", True),
        ("tests/x/y.md", "tests", True),
        ("mytests/y.md", "tests", False),
        ("a/tests/y.md", "tests", True),
        ("a/tests/y.md", "./tests/", True),
        ("a.md", "[ab].md", True),
        ("a.md", "[!ab].md", False),
        ("a.mdx", "a.md", False),
        ("a+b.md", "a+b.md", True),
    ],
)
def test_globs(name: str, glob: str, expected: bool) -> None:
    assert config.matches(name, glob) is expected
