"""Fix prompt files, templates, tool lists and settings files, and make several settings files agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from prefixlint import config, kinds
from prefixlint.api import documents, extract, files, fix_alone, texts
from prefixlint.api.files import Target
from prefixlint.api.fix import Run, read
from prefixlint.canon import body as canon_body
from prefixlint.canon import edits as byte_edits
from prefixlint.canon import splice, template, text
from prefixlint.canon.text import TextEdit
from prefixlint.canon.values import at, with_value
from prefixlint.errors import FixError, InputError
from prefixlint.json_spans import Document, escape_token
from prefixlint.model import Edit, FixNote, Json, Prompt, Request, Span
from prefixlint.prefix import lcp

_DEVELOPER = ("system", "developer", "")
_URL = re.compile(r"https?://[^\s?#]*[^/\s?#](/+)\Z")
_URL_KEY = re.compile(r"(?:^|[a-z])(?:api_?base|base_?url|apibase|endpoint)$", re.IGNORECASE)


@dataclass(slots=True)
class Settings:
    """Hold a settings file with its canonical value and its prompts by pointer."""

    target: Target
    loaded: documents.Loaded
    document: Document
    old: Json
    new: Json
    prompts: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)


def fix(run: Run, targets: list[Target]) -> None:
    """Fix every file; settings files first, since they name prompt files and are compared with each other."""
    seen = {Path(t.path).resolve() for t in targets}
    settings: list[Settings] = []
    for target in targets:
        try:
            if target.sort in ("prompt", "template"):
                data = read(target.path)
                run.add(target.path, data, _text_edits(run, target, data))
                continue
            found = _settings(run, target)
            settings.append(found)
            for _, path in documents.referred(found.loaded):
                if Path(path).resolve() not in seen:
                    seen.add(Path(path).resolve())
                    targets.append(Target(path, files.sort_of(path) or "prompt", True, files.syntax_of(path)))
        except (InputError, FixError) as error:
            run.errors.append(error)
    _agree(run, settings)
    for found in settings:
        try:
            run.add(found.target.path, found.loaded.data, _settings_edits(found))
        except FixError as error:
            run.errors.append(error)
    paths = {t.path for t in targets}
    for fixed in run.fixed:
        if fixed.path in paths:
            run.notes += reasons(run, fixed.path, fixed.after)


def reasons(run: Run, path: str, data: bytes) -> Iterator[FixNote]:
    """Say what ``check`` still finds in a file, and why it was left alone."""
    from prefixlint.api.check import CheckOptions, check_bytes

    for finding in check_bytes(path, data, CheckOptions()).findings:
        if finding.severity == "info":
            continue
        trust = finding.fix.trust if finding.fix else "display"
        if trust == "unsafe" and not run.options.unsafe:
            advice = "--unsafe changes it"
        else:
            advice = f"only a person can decide: {advice_on(finding.rule)}"
        place = finding.pointer or f"line {finding.span.line}"
        yield FixNote(path, f"{finding.message}; {advice}", finding.rule, finding.span.record, place)


def advice_on(rule: str) -> str:
    """Return what the card of a rule says to do instead."""
    from prefixlint import cards
    from prefixlint.errors import PrefixlintError

    try:
        return cards.rule(rule).instead
    except PrefixlintError:
        return "`prefixlint check` shows the place"


def _text_edits(run: Run, target: Target, data: bytes) -> list[Edit]:
    """Edit a prompt file: line ends everywhere, the rest in the parts that speak for the developer."""
    prose = decode(data, target.path)
    new = canonical_text(run, target, prose)
    found = list(text.edits(prose, new)) if new != prose else []
    if run.options.unsafe:
        moved = _moved(run, target, new)
        if moved != new:
            rule = "template-injected" if target.sort == "template" else "dynamic-before-static"
            return [replace(e, rule=rule) for e in to_bytes(prose, list(splice.text_edits(prose, moved)))]
    return list(to_bytes(prose, found))


def canonical_text(run: Run, target: Target, prose: str) -> str:
    """Return the canonical text of a prompt file; front matter changes its line ends only."""
    parts = texts.split(target.path, prose, kind="prompt-file", syntax=target.syntax)
    pieces, at_char = [], 0
    for segment in sorted(parts.segments, key=lambda s: parts.bases[s.pointer]):
        base = parts.bases[segment.pointer]
        covered = run.options.all_roles or segment.role in _DEVELOPER
        pieces += [_line_ends(prose[at_char:base]), _canonical(run, segment.text) if covered else segment.text]
        at_char = base + len(segment.text)
    return "".join([*pieces, _line_ends(prose[at_char:])]).removeprefix("\ufeff")


def _line_ends(prose: str) -> str:
    return re.sub(r"\r+(?=\n)", "", prose)


def _moved(run: Run, target: Target, prose: str) -> str:
    """Move labelled lines behind the rest of their text; in a chat template the date becomes a variable."""
    if target.sort == "template":
        return template.pinned(prose)
    parts = texts.split(target.path, prose, kind="prompt-file", syntax=target.syntax)
    prompt = Prompt(Request("0", "raw", Span(target.path)), parts.segments, "", False, "prompt-file")
    new = prose
    for segment, moved, _ in fix_alone.moved_in_texts(prompt, all_roles=run.options.all_roles):
        base = parts.bases[segment.pointer]
        new = new[:base] + moved + new[base + len(segment.text) :]
    return new


def _canonical(run: Run, prose: str) -> str:
    return text.canonical(prose, all_blanks=run.options.all_blanks, unsafe=run.options.unsafe)


def to_bytes(prose: str, found: list[TextEdit]) -> Iterator[Edit]:
    """Turn edits of a UTF-8 text into edits of its bytes."""
    at_char = at_byte = 0
    for edit in sorted(found, key=lambda e: e.start_char):
        at_byte += len(prose[at_char : edit.start_char].encode())
        end_byte = at_byte + len(prose[edit.start_char : edit.end_char].encode())
        yield Edit(at_byte, end_byte, edit.new.encode(), edit.rule)
        at_char, at_byte = edit.end_char, end_byte


def decode(data: bytes, path: str) -> str:
    """Decode a text file. Raises InputError with the place of a byte that is not UTF-8."""
    from prefixlint.json_spans import line_column

    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError("is UTF-16, expected UTF-8; save it again as UTF-8", path=path) from error
        line, column = line_column(data, error.start)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise InputError(message, path=path, line=line, column=column) from error


def _settings(run: Run, target: Target) -> Settings:
    loaded = documents.load(target.path, target.sort, read(target.path))
    document = loaded.parse()
    old = splice.decode(document, document.root) if target.sort == "json" else loaded.value
    pointers = config.load(Path(target.path)).pointers_for(target.path)
    prompts: dict[str, str] = {}
    new = old
    for prompt, _ in documents.prompts(loaded, pointers):
        moved = fix_alone.moved_in_texts(prompt, all_roles=run.options.all_roles) if run.options.unsafe else ()
        for segment in [*prompt.segments, *(replace(s, text=new_text) for s, new_text, _ in moved)]:
            if segment.kind != "text" or not (run.options.all_roles or segment.role in _DEVELOPER):
                continue
            prompts[segment.pointer] = _canonical(run, segment.text)
            new = with_value(new, segment.pointer, prompts[segment.pointer])
    if target.sort == "json":
        options = canon_body.Options(run.options.all_roles, run.options.all_blanks, run.options.unsafe)
        new = _with_sorted_tools(new, canon_body.Walk(options, None, lock_orders(run, target.path)))
    if run.options.unsafe:
        new = _without_suffixes(target, loaded.data, new)
    for pointer, url in _urls(loaded.kind, new):
        new = with_value(new, pointer, url)
    named = {p: _canonical(run, t) for p, t in documents.files_of(loaded).items() if t is not None}
    return Settings(target, loaded, document, old, new, prompts, named)


def lock_orders(run: Run, path: str) -> dict[frozenset[str], tuple[str, ...]]:
    """Return the tool orders of the lock file that was named or lies above a path."""
    from prefixlint.api import lock

    found = run.options.lock or lock.find(path)
    return lock.load(found).tool_orders() if found else {}


def _urls(kind: kinds.Kind, value: Json) -> Iterator[tuple[str, str]]:
    """Yield base URLs that end in a slash, without it: some clients join a path by writing another."""
    found = [p for pattern in kind.urls for p in kinds.select(value, pattern)]
    if isinstance(value, dict):
        found += [(f"/{escape_token(k)}", v) for k, v in value.items() if _URL_KEY.search(k)]
    for pointer, url in dict(found).items():
        match = _URL.match(url) if isinstance(url, str) else None
        if match:
            yield pointer, url[: match.start(1)]


def _without_suffixes(target: Target, data: bytes, value: Json) -> Json:
    """Cut off what ``check`` finds too much at the end of base URLs: a version, an endpoint, a query, a blank."""
    from prefixlint.api.check import CheckOptions, check_bytes

    found = check_bytes(target.path, data, CheckOptions()).findings
    for finding in sorted(found, key=lambda f: -(f.char_offset or 0)):
        url = at(value, finding.pointer)
        wanted = finding.rule == "base-url-suffix" and finding.severity != "info" and finding.char_offset is not None
        if wanted and isinstance(url, str):
            value = with_value(value, finding.pointer, url[: finding.char_offset])
    return value


def _with_sorted_tools(value: Json, walk: canon_body.Walk, depth: int = 0) -> Json:
    """Put every tool list of a document in canonical order."""
    if depth > 100:
        return value
    if isinstance(value, list):
        if extract.is_tool_list(value):
            return walk.tools(value)
        items = [_with_sorted_tools(v, walk, depth + 1) for v in value]
        return value if all(a is b for a, b in zip(value, items, strict=True)) else items
    if isinstance(value, dict):
        new = {k: _with_sorted_tools(v, walk, depth + 1) for k, v in value.items()}
        return value if all(new[k] is value[k] for k in new) else new
    return value


def _agree(run: Run, settings: list[Settings]) -> None:
    """Make prompts equal that differ only in their last line ends, and say where others differ in meaning."""
    by_pointer: dict[str, list[Settings]] = {}
    for one in settings:
        for pointer in one.prompts:
            by_pointer.setdefault(pointer, []).append(one)
    for pointer, group in by_pointer.items():
        spelled = {one.prompts[pointer] for one in group}
        if len(spelled) > 1 and len({s.rstrip("\n") for s in spelled}) == 1:
            for one in group:
                one.prompts[pointer] = one.prompts[pointer].rstrip("\n")
                one.new = with_value(one.new, pointer, one.prompts[pointer])
        elif len(spelled) > 1 and len(group) > 1:
            run.notes += _differences(pointer, group)
    for pointer in dict.fromkeys(p for one in settings for p in one.files):
        run.notes += _differences(pointer, [one for one in settings if pointer in one.files])


def _differences(pointer: str, group: list[Settings]) -> Iterator[FixNote]:
    """Say where texts at one pointer, or the files that are named there, differ in meaning."""
    first = group[0]
    for other in group[1:]:
        ours, theirs = ({**one.prompts, **one.files}[pointer] for one in (first, other))
        if ours.rstrip("\n") != theirs.rstrip("\n"):
            fork = lcp(ours, theirs)
            line = ours[:fork].count("\n") + 1
            shown = f"{ours[fork : fork + 20]!r} against {theirs[fork : fork + 20]!r}"
            where = f"from {first.target.path} in meaning at character {fork} (line {line} of the text)"
            yield FixNote(
                other.target.path, f"differs {where}: {shown}; left alone", "shared-prefix-mismatch", 0, pointer
            )


def _settings_edits(found: Settings) -> list[Edit]:
    """Turn the new value into edits of the file, and prove that the file then has that value."""
    data, path = found.loaded.data, found.target.path
    if found.target.sort == "json":
        edits = list(splice.splice(found.document, found.document.root, found.old, found.new))
        edits = [replace(e, rule=_rule(found, e)) for e in edits]
        if data.startswith(b"\xef\xbb\xbf"):
            edits.append(Edit(0, 3, b"", "bom-or-zero-width"))
    else:
        edits = list(_span_edits(found))
    again = documents.load(path, found.target.sort, byte_edits.apply(data, edits))
    if again.value != documents_value(found.new):
        raise FixError(f"{path}: the edited file would not have the value that was wanted; nothing was written")
    return edits


def documents_value(value: Json) -> Json:
    """Return a value with its numbers read, as a parser gives it."""
    import json

    from prefixlint.elements import Number

    if isinstance(value, dict):
        return {k: documents_value(v) for k, v in value.items()}
    if isinstance(value, list):
        return [documents_value(v) for v in value]
    return json.loads(str.__str__(value)) if isinstance(value, Number) else value


def _rule(found: Settings, edit: Edit) -> str:
    node = found.document.node(edit.pointer)
    if node is None or node.kind != "string":
        return "number-format" if node is not None and node.kind == "number" else "key-order"
    old = found.document.text(node)
    if _URL.match(old):
        return "base-url-slash"
    return next((e.rule for e in text.edits(old, text.canonical(old))), "trailing-whitespace")


def _span_edits(found: Settings) -> Iterator[Edit]:
    """Edit YAML or TOML by span: only strings whose edits remove characters or put letters in their place."""
    for pointer, node in found.document.walk():
        if node.kind != "string":
            continue
        old, new = found.document.text(node), at(found.new, pointer)
        if not isinstance(new, str) or new == old:
            continue
        for edit in splice.text_edits(old, new):
            start = found.document.byte_of(pointer, edit.start_char)
            end = found.document.byte_of(pointer, edit.end_char)
            yield Edit(start, end, edit.new.encode(), _rule(found, Edit(start, end, b"", "", pointer)), pointer)
