"""``fix``: bring files to canonical form; nothing is written before it was verified."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prefixlint import config
from prefixlint.api import files, write
from prefixlint.api.files import Target
from prefixlint.canon import edits as byte_edits
from prefixlint.errors import FixError, InputError
from prefixlint.model import Edit, Fixed, FixNote, FixResult


@dataclass(frozen=True, slots=True)
class FixOptions:
    """Say how far ``fix`` goes.

    ``all_roles`` extends it to user, assistant and tool text, ``unsafe`` to edits that move or replace text,
    ``all_blanks`` to blanks in fenced code and Markdown line breaks. ``discover`` treats named files as a folder walk
    would. ``lock`` names the lock file whose tool order counts; None looks for one.
    """

    unsafe: bool = False
    all_roles: bool = False
    all_blanks: bool = False
    discover: bool = False
    lock: str | None = None


@dataclass(slots=True)
class Run:
    """Collect what one run finds; every group of files adds to it."""

    options: FixOptions
    fixed: list[Fixed] = field(default_factory=list)
    notes: list[FixNote] = field(default_factory=list)
    errors: list[InputError | FixError] = field(default_factory=list)

    def add(self, path: str, before: bytes, edits: Iterable[Edit], compression: str = "") -> None:
        """Take in the edits of one file."""
        found = tuple(edits)
        after = byte_edits.apply(before, found)
        kept = tuple(e for e in found if before[e.start_byte : e.end_byte] != e.new)
        self.fixed.append(Fixed(path, before, after, kept, compression))

    def result(self) -> FixResult:
        """Return all of it in the order of the paths."""
        notes = tuple(dict.fromkeys(self.notes))
        return FixResult(tuple(self.fixed), notes, tuple(map(str, self.errors)))


def fix_paths(paths: Sequence[str], options: FixOptions | None = None) -> FixResult:
    """Work out the canonical form of files and folders; nothing is written.

    Request bodies and logs among them count as one log, settings files are made equal to each other, and prompt files
    that settings refer to are taken in.
    """
    from prefixlint.api import fix_files, fix_logs

    run = Run(options or FixOptions())
    targets = list(_targets(paths, run))
    logs, others = _sorted_out(targets, run)
    if others:
        fix_files.fix(run, others)
    if logs:
        fix_logs.fix(run, logs)
    return run.result()


def fix_bytes(data: bytes, options: FixOptions | None = None) -> FixResult:
    """Work out the canonical form of a body, log or prompt that is in no file; the result names it ``-``."""
    import tempfile

    head = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    suffix = ".md" if head not in (b"{", b"[") else ".jsonl" if b"}\n{" in data or b"}\r\n{" in data else ".json"
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / f"stdin{suffix}")
        Path(path).write_bytes(data)
        found = fix_paths([path], options)
    files = tuple(replace(f, path="-") for f in found.files)
    notes = tuple(replace(n, path="-") for n in found.notes)
    return FixResult(files, notes, tuple(e.replace(path, "-") for e in found.errors))


def preview(paths: Sequence[str], *, unsafe: bool = False, all_roles: bool = False, redact: bool = False) -> str:
    """Return what ``fix`` would write as a unified diff, with what it would leave alone below; '' for nothing.

    With ``redact`` the rules stand in place of the diff and of messages with text.
    """
    from prefixlint.report import fix_text

    result = fix_paths(paths, FixOptions(unsafe=unsafe, all_roles=all_roles))
    if redact:
        result = replace(result, notes=tuple(replace(n, message="not shown") if n.rule else n for n in result.notes))
    shown = fix_text.fix_rules(result) if redact else fix_text.fix_diff(result)
    lines = [*fix_text.notes(result.notes), *result.errors]
    return shown + "".join(f"{line}\n" for line in lines)


def save(result: FixResult, *, backup: bool = False) -> list[str]:
    """Write what changed, each file in one step; return the errors of those that could not be written."""
    errors = []
    for fixed in result.files:
        if fixed.changed:
            errors += _write(fixed.path, fixed, backup=backup, before=fixed.before)
    return errors


def save_copies(result: FixResult, output: str) -> list[str]:
    """Write every file, changed or not, to ``output``: a file for one input, else a folder."""
    target = Path(output)
    if len(result.files) == 1 and not target.is_dir() and not output.endswith(("/", os.sep)):
        return _write(output, result.files[0])
    names = [Path(f.path).name for f in result.files]
    twice = {n for n in names if names.count(n) > 1}
    if twice:
        return [f"{output}: two inputs are called {min(twice)}; write them to different folders"]
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return [f"{output}: cannot be made: {error.strerror}"]
    return [e for n, f in zip(names, result.files, strict=True) for e in _write(str(target / n), f)]


def _write(path: str, fixed: Fixed, *, backup: bool = False, before: bytes | None = None) -> list[str]:
    """Write one file, compressed as its name says or as the input was."""
    method = write.method_for(path, fixed.compression)
    try:
        write.replace_file(path, write.compress(fixed.after, method), backup=backup, before=before)
    except FixError as error:
        return [str(error)]
    return []


def read(path: str) -> bytes:
    """Read a file. Raises InputError when it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def _targets(paths: Sequence[str], run: Run) -> Iterator[Target]:
    for found in files.find(paths, settings=lambda p: config.load(Path(p)), discover=run.options.discover):
        if isinstance(found, InputError):
            run.errors.append(found)
        elif found.sort == "source":
            _note_source(run, found.path)
        else:
            yield found


def _note_source(run: Run, path: str) -> None:
    """Source code is never rewritten: say what is found in it and what to do."""
    from prefixlint.api.fix_files import reasons

    try:
        run.notes += reasons(run, path, read(path))
    except InputError as error:
        run.errors.append(error)


def _sorted_out(targets: list[Target], run: Run) -> tuple[list[Target], list[Target]]:
    """Split targets into the request logs and bodies, which know of each other, and all other files."""
    from prefixlint.api import fix_logs

    logs: list[Target] = []
    others: list[Target] = []
    for target in targets:
        try:
            data = write.expand(read(target.path))
            if not files.wants(target, lambda data=data: data):  # type: ignore[misc]
                continue
            (logs if fix_logs.is_log(target, data) else others).append(target)
        except InputError as error:
            run.errors.append(error)
        except (OSError, EOFError) as error:
            run.errors.append(InputError(f"cannot be decompressed: {error}", path=target.path))
    return logs, others


def same_file(left: str, right: str) -> bool:
    """Return whether two paths name one file."""
    return os.path.realpath(left) == os.path.realpath(right)
