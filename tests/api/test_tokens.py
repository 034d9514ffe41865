"""The choice of a tokenizer: by model, by name, by file or folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from prefixlint.api import tokens
from prefixlint.errors import ConfigError, InputError


@pytest.mark.parametrize(
    ("model", "name"),
    [  # the first group as tiktoken.model.encoding_name_for_model has it
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o4-mini-2025-04-16", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-0613", "cl100k_base"),
        ("gpt-4-turbo-preview", "cl100k_base"),
        ("gpt-3.5-turbo-16k", "cl100k_base"),
        ("gpt-35-turbo", "cl100k_base"),
        ("ft:gpt-4o-mini:acme::abc", "o200k_base"),
        # as gateways spell them
        ("openai/gpt-4o", "o200k_base"),
        ("openrouter/openai/gpt-oss-20b", "o200k_harmony"),
        ("azure/GPT-4o", "o200k_base"),
        ("gpt-5.5-codex", "o200k_base"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-estimate"),
        ("claude-opus-4-5", "claude-estimate"),
        ("claude-3-5-sonnet-latest", "claude-estimate"),
        ("anthropic/claude-opus-4.7", "claude-opus-4-7-estimate"),
        ("claude-opus-5-5", "claude-opus-4-7-estimate"),
        ("models/gemini-2.5-pro", "gemini-estimate"),
        ("Qwen/Qwen3-8B", "estimate"),
        ("gpt-neo", "estimate"),
        ("", "estimate"),
        (None, "estimate"),
    ],
)
def test_model_names(model: str | None, name: str) -> None:
    chosen = tokens.tokenizer_for(model)
    assert (chosen.name, chosen.exact) == (name, not name.endswith("estimate"))


def test_a_name_overrides_the_model() -> None:
    assert tokens.tokenizer_for("claude-opus-5", "cl100k_base").exact


def test_one_object_per_name() -> None:
    assert tokens.tokenizer_for("gpt-4o") is tokens.tokenizer_for("gpt-5", "o200k_base")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'o200k' is neither known nor a file; known: cl100k_base, .*o200k_harmony"):
        tokens.tokenizer_for(None, "o200k")


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    ranks = b"".join(b"%s %d\n" % (token, rank) for rank, token in enumerate((b"YQ==", b"Yg==", b"YWI=")))
    (tmp_path / "mine.tiktoken").write_bytes(ranks)
    with pytest.raises(ConfigError, match="without a known pattern"):
        tokens.tokenizer_for(None, str(tmp_path))
    assert tokens.tokenizer_for(None, f"llama3={tmp_path}").encode("aab") == [0, 2]
    (tmp_path / "mine.tiktoken").write_bytes(ranks.replace(b"YWI=", b"YmE="))
    assert tokens.tokenizer_for(None, f"llama3={tmp_path / 'mine.tiktoken'}").encode("aba") == [0, 2]
    (tmp_path / "mine.tiktoken").unlink()
    with pytest.raises(InputError, match="no tokenizer in it"):
        tokens.tokenizer_for(None, str(tmp_path))


def test_choosing_imports_no_engine() -> None:
    code = (
        "import sys; from prefixlint.api.tokens import tokenizer_for; tokenizer_for('gpt-4o').bounds('x');"
        "print(sorted({'tiktoken', 'tokenizers', 'regex', 'jinja2', 'orjson'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
