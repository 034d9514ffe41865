"""``prefixlint fix``: rewrite files into canonical form."""

from __future__ import annotations

import sys
from typing import Any

import click

from prefixlint.cli import _shared


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if something would be rewritten.")
@click.option("--diff", "show_diff", is_flag=True, help="Write nothing; print a unified diff.")
@click.option("--unsafe", is_flag=True, help="Also move or pin text that changes from request to request.")
@click.option("--all-roles", is_flag=True, help="Also touch user, assistant and tool text.")
@click.option("--all-blanks", is_flag=True, help="Also strip blanks in fenced code and Markdown line breaks.")
@click.option("--backup", is_flag=True, help="Keep the old file as FILE.bak.")
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Write copies here and leave the inputs alone.")
@click.option("--lock", type=click.Path(dir_okay=False), help="Keep the tool order of this lock file.")
@click.option("--discover", is_flag=True, help="Take a named file only if it looks like a prompt (for hooks).")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
def command(paths: tuple[str, ...], **options: Any) -> None:
    """Rewrite prompt files, settings, tool lists, request bodies and logs so that equal meaning has equal bytes.

    PATHS are files and folders; - alone reads standard input and writes standard output. Only bytes without meaning
    change, and only in text that the developer wrote, unless an option says more. Every result is verified before it
    is written. Exits 0 when there is nothing to do, 1 when something was or would be rewritten, 2 on an error, 3 on
    both.
    """
    from prefixlint.api import fix
    from prefixlint.report import fix_text

    chosen = fix.FixOptions(
        unsafe=options["unsafe"],
        all_roles=options["all_roles"],
        all_blanks=options["all_blanks"],
        discover=options["discover"],
        lock=options["lock"],
    )
    is_stream = paths == ("-",)
    result = fix.fix_bytes(sys.stdin.buffer.read(), chosen) if is_stream else fix.fix_paths(paths, chosen)
    errors = list(result.errors)
    writes = not options["only_check"] and not options["show_diff"]
    if writes and is_stream and not options["output"]:
        sys.stdout.buffer.write(b"".join(f.after for f in result.files))
    elif writes and options["output"]:
        errors += fix.save_copies(result, options["output"])
    elif writes:
        errors += fix.save(result, backup=options["backup"])
    if options["show_diff"]:
        _shared.write_report(fix_text.fix_diff(result), None)
    if not options["quiet"]:
        sys.stderr.write(fix_text.fix_report(result, written=writes, output=options["output"] or ""))
    for error in errors:
        click.echo(f"prefixlint: {error}", err=True)
    sys.exit(int(any(f.changed for f in result.files)) + 2 * bool(errors))
