"""Start the command line; ``--version`` answers before anything heavy is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with the code of DESIGN section 1."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from prefixlint import __version__

        sys.stdout.write(f"prefixlint {__version__}\n")
        return
    from prefixlint.cli._main import run

    run()


if __name__ == "__main__":
    main()
