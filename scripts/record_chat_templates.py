"""Record what transformers renders for the templates and conversations in tests/data/chat_templates.

usage: python scripts/record_chat_templates.py    (in an environment with transformers and jinja2; no network is used)

The answers are the expected values of tests/render/test_chat_template.py. The date is fixed to 2026-12-01.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import transformers
from transformers.utils import chat_template_utils

FOLDER = Path(__file__).parent.parent / "tests" / "data" / "chat_templates"
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


class FixedDate(datetime.datetime):
    """Stand for datetime inside transformers, whose strftime_now reads the clock."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime.datetime:
        """Return the fixed date."""
        return datetime.datetime(2026, 12, 1, tzinfo=tz)


def render(source: str, case: dict[str, Any]) -> dict[str, str]:
    """Return the text, or the message of the error."""
    try:
        rendered, _ = chat_template_utils.render_jinja_template(
            conversations=[case["messages"]],
            tools=case.get("tools"),
            chat_template=source,
            add_generation_prompt=case.get("add_generation_prompt", True),
            **SPECIAL,
            **case.get("options", {}),
        )
    except Exception as error:  # whatever the template raises is the answer
        return {"error": f"{type(error).__name__}: {error}"}
    return {"text": rendered[0]}


def main() -> None:
    """Render every case with every template."""
    chat_template_utils.datetime = FixedDate
    cases = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
    answers = {
        file.stem: {name: render(file.read_text(encoding="utf-8"), case) for name, case in cases.items()}
        for file in sorted(FOLDER.glob("*.jinja"))
    }
    recorded = {"transformers": transformers.__version__, "date": "2026-12-01", "answers": answers}
    (FOLDER / "expected.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
