"""Every rule card: its form, its examples run through the product, its patterns in linear time."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import pytest

from prefixlint import cards, shapes
from prefixlint.api import rules
from prefixlint.errors import CardError

ROOT = Path(__file__).parent.parent
IDS = sorted(cards.all_rules())
sys.path.insert(0, str(ROOT / "scripts"))

# The list of DESIGN section 4, and what came with source and settings.
WANTED = """
timestamp date epoch relative-time-phrase uuid random-id counter commit-hash temp-path user-or-host
git-status cwd-or-env
trailing-whitespace newline-style unicode-normalization bom-or-zero-width blank-run number-format escape-style
tool-order key-order list-order duplicate-key content-shape role-change image-reencode
tool-set-change tool-def-change tool-call-id
history-rewrite message-inserted sliding-window compaction thinking-stripped retrieved-context instructions-edited
param-change model-switch routing-key
breakpoint-misplaced too-many-breakpoints lookback-exceeded ttl-expired ttl-order below-minimum block-boundary
fan-out-before-warm intact-but-not-read
dynamic-before-static unrendered-placeholder template-injected
base-url-slash base-url-suffix base-url-mismatch literal-key shared-prefix-missing prefix-too-long prefix-exceeds-model
chunk-prefix-mismatch cache-disabled unknown-provider
""".split()


def test_every_rule_has_a_card() -> None:
    assert set(WANTED) <= set(IDS)


@pytest.mark.parametrize("rule_id", IDS)
def test_card_follows_the_schema(rule_id: str) -> None:
    path = cards.rules_dir() / f"{rule_id}.toml"
    assert list(cards.faults(cards.read_toml(path))) == []
    assert cards.full_rule(rule_id).id == rule_id


@pytest.mark.parametrize("rule_id", IDS)
def test_examples(rule_id: str) -> None:
    failed = [f"{t.example}: {t.fault}" for t in rules.try_card(cards.full_rule(rule_id)) if t.fault]
    assert failed == []


def test_index_is_in_step() -> None:
    import build_cards

    assert build_cards.TARGET.read_text(encoding="utf-8") == build_cards.text(), "run python scripts/build_cards.py"


def test_documents_are_in_step() -> None:
    import build_rule_docs

    wanted = build_rule_docs.files()
    stale = [str(p) for p, text in wanted.items() if not p.is_file() or p.read_text(encoding="utf-8") != text]
    assert stale == [], "run python scripts/build_rule_docs.py"
    assert set((ROOT / "docs" / "rules").glob("*.md")) <= set(wanted)


def test_messages_name_only_what_checks_give() -> None:
    """A message may name {value} and, behind it, the numbered values of its check."""
    odd = [r for r in IDS if re.sub(r"\{(?:value|\d)\}", "", cards.rule(r).message).count("{")]
    assert odd == []


def test_a_users_card_is_validated(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('id = "Mine"\nsummary = "x"\n', encoding="utf-8")
    with pytest.raises(CardError, match=r"mine\.toml: /"):
        cards.load_card(path)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        pytest.param("(?=look)ahead", "/patterns/0", id="look-ahead is not in RE2"),
        pytest.param("open(", "/patterns/0", id="does not compile"),
    ],
)
def test_a_users_pattern_is_validated(tmp_path: Path, pattern: str, place: str) -> None:
    card = cards.read_toml(cards.rules_dir() / "uuid.toml") | {"id": "mine", "patterns": [pattern]}
    assert [p for p, _ in cards.faults(card)] == [place]


MINE = """
id = "project-code"
group = "mine"
summary = "the code name of a project that changes"
why = "It is another one for each customer, so nothing behind it is shared."
what = "Codes such as PX-1234 behind the word project."
instead = "Put it at the end of the prompt."
message = "project code {value} differs"
severity = "warning"
confidence = "medium"
fix = "display"
labels = ["project"]
patterns = ['PX-\\d{4}']

[[bad]]
kind = "prompt"
text = "You help project «PX-1234».\\n"

[[bad]]
kind = "prompt"
text = "Project: «PX-0007»\\n"

[[good]]
kind = "prompt"
text = "The part PX-1234 is a screw.\\n"

[[good]]
kind = "prompt"
text = "project\\nPX-1234\\n"

[[good]]
kind = "prompt"
text = "No code.\\n"
"""


def test_a_users_card_is_found_and_tried(tmp_path: Path) -> None:
    path = tmp_path / "project-code.toml"
    path.write_text(MINE, encoding="utf-8")
    assert [t.fault for t in rules.try_card(cards.load_card(path))] == [""] * 5
    assert "project-code" in cards.all_rules([tmp_path])


def test_a_users_card_may_not_take_a_shipped_id(tmp_path: Path) -> None:
    path = tmp_path / "uuid.toml"
    path.write_text(MINE.replace("project-code", "uuid"), encoding="utf-8")
    with pytest.raises(CardError, match="choose another id"):
        cards.all_rules([path])


def test_unknown_rule_names_the_nearest() -> None:
    with pytest.raises(CardError, match="did you mean 'timestamp'"):
        cards.rule("timestmp")


# Pieces that patterns begin to match and must give up on, repeated over the whole line.
SEEDS = [
    "a", "1", "A", "_", "-", "/", ".", " ", "\t", ":", "0:0", "1.", "a1", "A1-", "-a", "/tmp/", "/tmp/a", "a@",
    "a.", "f", "session id: ", "git: ", "git: HEAD ", "uptime: 1 a, ", "user: a ", "cwd: a ", "x/", "│ ",
    "modified: ", "january ", "monday, ", "1 january ", "2026-01-0", "#1", "$1,", "1 of ", "5 min ", "commit ",
    "tmp", "req_a", "年1月", "a/", "0f", "on branch a", " M a/", "hello Bob Ann ", "timestamp: ", "1, ",
]  # fmt: skip
PATTERNS = [(f"{r}-{i}", p) for r in shapes.ORDER for i, p in enumerate(shapes.patterns(r))]


def cpu_s(pattern: shapes.Pattern, seed: str, size: int) -> float:
    line = (seed * (size // len(seed) + 1))[:size]
    started = time.process_time()
    for _ in shapes.matches(pattern, line, 0, size):
        pass
    return time.process_time() - started


@pytest.mark.parametrize("pattern", [p for _, p in PATTERNS], ids=[n for n, _ in PATTERNS])
def test_patterns_take_linear_time(pattern: shapes.Pattern) -> None:
    worst = max(SEEDS, key=lambda seed: cpu_s(pattern, seed, 2_000))
    tenth, whole = cpu_s(pattern, worst, 100_000), cpu_s(pattern, worst, 1_000_000)
    assert whole < 0.05 or whole < 30 * tenth, f"{worst!r}: {tenth:.2f} s for a tenth, {whole:.2f} s for 1 MB"
    assert whole < 20, f"{worst!r} takes {whole:.1f} s"


def test_patterns_mean_the_same_in_re2() -> None:
    re2 = pytest.importorskip("re2")
    texts = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "rules").glob("*.toml"))]
    texts += [p.read_text(encoding="utf-8")[:150_000] for p in sorted((ROOT / "examples").glob("*.json*"))][:2]
    for rule_id in shapes.ORDER:
        entries = cards.rule_patterns(rule_id)
        for ours, theirs in zip(
            shapes.compile_patterns(rule_id, entries),
            shapes.compile_patterns(rule_id, entries, re2.compile),
            strict=True,
        ):
            for text in texts:
                mine = [m.span() for m in ours.regex.finditer(text)]
                assert mine == [m.span() for m in theirs.regex.finditer(text)], ours.regex.pattern


def test_index_is_read_from_where_it_is_shipped() -> None:
    index = json.loads((Path(cards.__file__).parent / "data" / "cards.json").read_text(encoding="utf-8"))
    assert sorted(index["cards"]) == IDS
