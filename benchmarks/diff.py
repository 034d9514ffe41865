"""`prefixlint diff` against the floor: a bare orjson.loads over the same lines, or tiktoken over the same text."""

from __future__ import annotations

import logs
from measure import prefixlint, python, row, scratch

PARSE = "import orjson,sys\nfor line in open(sys.argv[1],'rb'): orjson.loads(line)"
ENCODE = """
import orjson, sys
from prefixlint.api.tokens import tokenizer_for
encode = tokenizer_for('gpt-4o').encode
for line in open(sys.argv[1], 'rb'):
    for message in orjson.loads(line)['messages']: encode(message['content'])
"""


def main() -> None:
    """Print the table."""
    folder = scratch()
    agent = logs.write(folder / "agent.jsonl", logs.agent_requests(2000))
    base = python(PARSE, str(agent), repeat=2)
    row("orjson.loads, 500 MB agent log", base)
    once = prefixlint("diff", str(agent), repeat=2)
    row("diff, 500 MB agent log", once, base, "at most 2 times, under 250 MB")
    twice = logs.write(folder / "agent2.jsonl", logs.agent_requests(4000))
    row("diff, 1 GB agent log, against the 500 MB one", prefixlint("diff", str(twice)), once, "at most 2.2 times")
    twice.unlink()
    stamped = logs.write(folder / "stamped.jsonl", logs.agent_requests(2000, stamped=True))
    row(
        "diff, 500 MB, a stamp in every tenth request",
        prefixlint("diff", str(stamped), repeat=2),
        once,
        "at most twice",
    )
    stamped.unlink()
    unrelated = logs.write(folder / "unrelated.jsonl", logs.unrelated_requests(50))
    encode = python(ENCODE, str(unrelated))
    row("tiktoken, 50 MB of unrelated prompts", encode)
    row("diff, 50 MB of unrelated prompts", prefixlint("diff", str(unrelated)), encode, "at most 1.3 times")
    starts(agent.parent)


def starts(folder: object) -> None:
    """Print start-up times against importing click."""
    click = python("import click", repeat=10)
    row("python -c 'import click'", click)
    row("prefixlint --version", prefixlint("--version", repeat=10), click, "at most 2.5 times")
    files = ["tests/cases/022-git-status-on-resume/input.a.json", "tests/cases/022-git-status-on-resume/input.b.json"]
    row("diff of two small files", prefixlint("diff", *files, repeat=10), click, "at most 6 times")
    row("check of three small files", prefixlint("check", *files, "README.md", repeat=10), click, "at most 4 times")


if __name__ == "__main__":
    main()
