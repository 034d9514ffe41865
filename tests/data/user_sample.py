"""What a user's program looks like; mypy --strict reads it in tests/test_typing.py."""

import prefixlint as pl


def prepare(body: dict[str, object]) -> bytes:
    canonical: pl.Canonical = pl.canonicalize(body)
    for finding in pl.check(canonical.body):
        where: tuple[str, int] = (finding.rule, finding.span.line)
        print(*where)
    return pl.canonical_bytes(body)


def compare(a: dict[str, object], b: dict[str, object]) -> str:
    fork: pl.Fork | None = pl.fork(a, b)
    return fork.cause if fork else "goes on"


def watch(body: dict[str, object]) -> str | None:
    guard = pl.Guard(on_fork="raise", budget=100)
    try:
        checked: pl.Checked = guard.check(body, session="a")
    except pl.ForkError as error:
        return str(error)
    except pl.PrefixlintError:
        return None
    fork: pl.Fork | None = checked.fork
    return fork.cause if fork else None


TOKENS: int = pl.count({"model": "gpt-4o", "messages": []})
VERSION: str = pl.__version__
