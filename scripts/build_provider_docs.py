"""Write `docs/providers/*.md` and `docs/engines/*.md` from the dated facts in `prefixlint/data`.

Usage: python scripts/build_provider_docs.py
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from prefixlint import facts  # noqa: E402
from prefixlint.facts import Fact, Facts  # noqa: E402

DATA = ROOT / "prefixlint" / "data"
DOCS = ROOT / "docs"
NOTE = "<!-- written by scripts/build_provider_docs.py from prefixlint/data; do not edit -->\n"
NAMES = {
    "anthropic": "Anthropic", "azure": "Azure OpenAI", "bedrock": "AWS Bedrock", "dashscope": "Qwen (DashScope)",
    "deepseek": "DeepSeek", "fireworks": "Fireworks", "gemini": "Google Gemini", "groq": "Groq",
    "mistral": "Mistral", "moonshot": "Moonshot Kimi", "openai": "OpenAI", "openrouter": "OpenRouter",
    "together": "Together", "xai": "xAI",
}  # fmt: skip
FACTS = ("min_tokens", "granularity", "ttl_s", "read_x", "write_x", "write_1h_x", "lookback")
HEADS = ("least tokens", "step", "lifetime", "read x", "write x", "1 h write x", "look-back")
WORDS = """
*read x* and *write x* multiply the price of an input token. A number with **?** is one that sources disagree on, or
that only a secondary source was found for; its range stands behind it. Replay and checks use the first number.
"""


def files() -> dict[Path, str]:
    """Return every generated page with its text."""
    found = {DOCS / "providers" / f"{p}.md": provider_page(p) for p in facts.known_providers()}
    own = engines()
    found |= {DOCS / "engines" / f"{name}.md": engine_page(name, row) for name, row in own.items()}
    found[DOCS / "providers" / "README.md"] = provider_index()
    found[DOCS / "engines" / "README.md"] = engine_index(own)
    return found


def engines() -> dict[str, dict[str, Any]]:
    """Read the engines that are no provider's cache."""
    read = {p.stem: tomllib.loads(p.read_text(encoding="utf-8")) for p in sorted((DATA / "engines").glob("*.toml"))}
    return {name: row for name, row in read.items() if "provider" not in row}


def provider_page(provider: str) -> str:
    """Write one provider: families, where the numbers come from, prices, what to do with it."""
    path = DATA / "providers" / f"{provider}.toml"
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    notes = dict(comments(path.read_text(encoding="utf-8")))
    head = notes.pop("", "")
    parts = [
        NOTE,
        f"# {NAMES[provider]}\n",
        f"{head}\n" if head else "",
        f"Source: {link(raw['source'])}, as of {raw['as_of']}.\n",
    ]
    families = facts.families(provider)
    if families:
        parts += [WORDS, *family_table(families), "", *order_lines(families), *origins(families), *note_lines(notes)]
    if "read_x" in raw:
        rows = [[k, str(v)] for k, v in raw["read_x"].items()]
        parts += ["\n## Read multipliers as listed\n", *table(("upstream", "read x"), rows)]
    parts += price_lines(raw.get("price", []))
    if families:
        parts += ["\n## Replay a log through it\n", f"```console\n$ prefixlint replay LOG --cache {provider}\n```"]
    return join(parts)


def comments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the comments of a data file by the family (or price) they stand in; '' is the head of the file."""
    place, found = "", dict[str, list[str]]()
    for line in text.splitlines():
        if line.startswith("["):
            place = "defaults" if line == "[defaults]" else line.strip("[]")
        elif match := re.match(r'(?:id|models) = \[?"([^"]+)"', line):
            place = match[1] if place in ("family", "price") else place
        elif line.startswith("# "):
            found.setdefault(place, []).append(line[2:])
    for name, lines in found.items():
        yield name, " ".join(lines)


def family_table(families: Iterable[Facts]) -> list[str]:
    """Write the numbers of all families, leaving out columns that say nothing."""
    rows = [[f"`{f.family}`", models(f), *(shown(k, getattr(f, k)) for k in FACTS), str(f.max_breakpoints or "none")]
            for f in families]  # fmt: skip
    heads = ("family", "models", *HEADS, "markers")
    keep = [i for i in range(len(heads)) if any(row[i] not in ("", "-") for row in rows)]
    return table([heads[i] for i in keep], [[row[i] for i in keep] for row in rows])


def models(family: Facts) -> str:
    """List the name patterns of a family as the data file has them."""
    raw = tomllib.loads((DATA / "providers" / f"{family.provider}.toml").read_text(encoding="utf-8"))
    row = next(r for r in raw["family"] if r["id"] == family.family)
    return ", ".join(f"`{m}`" for m in row["models"])


def shown(name: str, fact: Fact) -> str:
    """Write one number with what is unsure about it."""
    if name == "lookback" and not fact.value:
        return "-"
    unit = duration if name == "ttl_s" else (lambda v: f"{v:,g}" if v < 1e6 else f"{v:,.0f}")
    text = " or ".join(unit(v) for v in fact.values if len(fact.values) > 1) or unit(fact.value)
    if fact.certain:
        return text
    spread = f" ({unit(fact.low)} to {unit(fact.high)})" if fact.low != fact.high else ""
    return f"{text} **?**{spread}"


def duration(seconds: float) -> str:
    """Write seconds in the largest unit that fits."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s" if seconds else "not stated"


def order_lines(families: tuple[Facts, ...]) -> list[str]:
    """Say in which order the prefix is built and from when an entry ages."""
    first = families[0]
    ages = "the start of the request that wrote or read it" if first.ttl_from == "request-start" else "its last use"
    included = "included in" if first.input_includes_cached else "**not** included in"
    return [
        f"- Order of the prefix: {', '.join(first.prefix_order) or 'not known'}.",
        f"- An entry ages from {ages}.",
        f"- Cached tokens are {included} the reported input tokens.",
    ]


def origins(families: Iterable[Facts]) -> list[str]:
    """List the facts that are not from the page's main source, or are uncertain."""
    lines = []
    for family in families:
        for name, head in zip(FACTS, HEADS, strict=True):
            fact: Fact = getattr(family, name)
            if (fact.source, fact.as_of) != (family.source, family.as_of):
                lines.append(f"- `{family.family}`, {head}: {link(fact.source)}, as of {fact.as_of}")
    return ["\n## Facts from elsewhere\n", *dict.fromkeys(lines)] if lines else []


def note_lines(notes: dict[str, str]) -> list[str]:
    """Write the remarks of the data file."""
    lines = [f"- `{name}`: {text}" for name, text in notes.items()]
    return ["\n## Remarks\n", *lines] if lines else []


def price_lines(prices: list[dict[str, Any]]) -> list[str]:
    """Write the price list, USD per million tokens."""
    if not prices:
        return []
    keys = ("input", "cached", "write", "write_1h", "output")
    rows = [
        [", ".join(f"`{m}`" for m in p["models"]), *(f"{p[k]:g}" if k in p else "-" for k in keys),
         ("" if p.get("certain", True) else "**?** ") + f"{link(p['source'])}, {p['as_of']}"]
        for p in prices
    ]  # fmt: skip
    heads = ("model", "input", "cached", "write", "1 h write", "output", "source")
    return ["\n## Prices\n", "USD per million tokens.\n", *table(heads, rows)]


def engine_page(name: str, row: dict[str, Any]) -> str:
    """Write one engine: what it is modelled after, its settings, how to replay it."""
    unsure = "" if row.get("certain", True) else " **?** (not confirmed in the engine's source)"
    params = [[f"`{k}`", f"`{v}`"] for k, v in row.get("params", {}).items()]
    also = ", ".join(f"`{a}`" for a in row.get("aliases", ()))
    return join(
        [
            NOTE,
            f"# {row['title']}\n",
            f"Modelled after {row['source']}, as of {row['as_of']}{unsure}.\n",
            f"Kind of cache: `{row['family']}`." + (f" Also called {also}." if also else "") + "\n",
            *table(("setting", "default"), params),
            "\n## Replay a log through it\n",
            f"```console\n$ prefixlint replay LOG --cache {name}\n"
            f"$ prefixlint replay LOG --cache {name} --capacity 20000\n```\n",
            "What each option does is in [replay](../replay.md).",
        ]
    )


def provider_index() -> str:
    """Write the list of providers."""
    rows = []
    for p in facts.known_providers():
        raw = tomllib.loads((DATA / "providers" / f"{p}.toml").read_text(encoding="utf-8"))
        least = sorted({f.min_tokens.tokens for f in facts.families(p)})
        span = " to ".join(f"{n:,}" for n in dict.fromkeys((least[0], least[-1]))) if least else "the upstream's"
        rows.append([f"[{NAMES[p]}]({p}.md)", span, raw["as_of"]])
    text = "What prefixlint knows about the prompt caches of hosted models, each number with its source and date."
    return join([NOTE, "# Providers\n", text + "\n", *table(("provider", "least tokens", "as of"), rows)])


def engine_index(rows: dict[str, dict[str, Any]]) -> str:
    """Write the list of engines."""
    text = "Caches of servers that you run yourself."
    lines = [[f"[{r['title']}]({n}.md)", f"`--cache {n}`", r["as_of"]] for n, r in rows.items()]
    return join([NOTE, "# Engines\n", text + "\n", *table(("engine", "replay", "as of"), lines)])


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Write a Markdown table."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *(list(r) for r in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def link(source: str) -> str:
    """Make an address clickable."""
    return f"<{source}>" if source.startswith("https://") and " " not in source else source


def join(parts: Iterable[str]) -> str:
    """Put the lines of a page together."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip("\n") + "\n"


def main() -> None:
    """Write the pages; remove those of providers and engines that are gone."""
    wanted = files()
    for folder in (DOCS / "providers", DOCS / "engines"):
        folder.mkdir(parents=True, exist_ok=True)
        for path in set(folder.glob("*.md")) - set(wanted):
            path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
