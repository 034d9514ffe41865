"""Read the chat template of a model from disk: a file, or the folder of a model with its special tokens."""

from __future__ import annotations

import json
from pathlib import Path

from prefixlint.errors import InputError
from prefixlint.render.chat_template import Template, parse_template, special_tokens

CONFIG, TOKENS = "tokenizer_config.json", "special_tokens_map.json"
NAMES = ("chat_template.jinja", CONFIG, "chat_template.json")


def load_template(path: str, *, name: str = "") -> Template:
    """Read a ``.jinja`` file, a tokenizer_config.json, or a model's folder.

    The special tokens that a template prints (``bos_token``) are taken from the files beside it. ``name`` picks one
    of several templates of a model.
    """
    file = _template_file(Path(path))
    special: dict[str, str] = {}
    for sibling in (TOKENS, CONFIG):
        special |= _special(file.with_name(sibling))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    return parse_template(data, str(file), special=special, name=name)


def _template_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = next((path / name for name in NAMES if _holds_template(path / name)), None)
    if found is None:
        raise InputError(f"no chat template in it; looked for {', '.join(NAMES)}", path=str(path))
    return found


def _holds_template(file: Path) -> bool:
    return file.is_file() and (file.suffix != ".json" or b'"chat_template"' in file.read_bytes())


def _special(file: Path) -> dict[str, str]:
    """Read the special tokens beside a template; a file that is missing or broken has none."""
    try:
        return special_tokens(json.loads(file.read_bytes()))
    except (OSError, ValueError):
        return {}
