"""The rules, vocabularies and schemas are found however prefixlint was installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
USE = """
import prefixlint
from prefixlint import cards
from prefixlint.api.tokens import tokenizer_for
rule = cards.rule("timestamp")
print(prefixlint.__file__, rule.id, len(cards.all_rules()), tokenizer_for("gpt-4o").count("hello world"))
"""


def build(kind: str, folder: Path, source: Path = ROOT) -> Path:
    """Build with the backend that pyproject.toml names, in this environment (no download)."""
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


def use(home: Path, cwd: Path) -> list[str]:
    """Use the package that lies in ``home`` from another folder; -P keeps the checkout out of the way."""
    env = {**os.environ, "PYTHONPATH": str(home)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", USE], env=env, cwd=cwd, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build the sdist, the wheel out of the sdist, and unpack both."""
    folder = tmp_path_factory.mktemp("dist")
    with tarfile.open(build("sdist", folder / "s")) as archive:
        archive.extractall(folder / "sdist", filter="data")
    sdist = next((folder / "sdist").iterdir())
    with zipfile.ZipFile(build("wheel", folder / "w", sdist)) as archive:
        archive.extractall(folder / "wheel")
    return {"sdist": sdist, "wheel": folder / "wheel", "checkout": ROOT}


@pytest.mark.parametrize("way", ["wheel", "sdist", "checkout"])
def test_rules_and_vocabularies_are_found(built: dict[str, Path], tmp_path: Path, way: str) -> None:
    place, rule, rules, tokens = use(built[way], tmp_path)
    assert Path(place).is_relative_to(built[way])
    assert rule == "timestamp"
    assert int(rules) == len(list((ROOT / "rules").glob("[!_]*.toml")))
    assert tokens == "2"  # "hello", " world" in o200k_base


def test_editable_install_finds_them(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-P", "-c", USE], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == "timestamp"


def test_wheel_holds_what_a_user_needs(built: dict[str, Path]) -> None:
    wheel = built["wheel"]
    for name in ("prefixlint/py.typed", "prefixlint/_rules/timestamp.toml", "prefixlint/schemas/report-v1.json"):
        assert (wheel / name).exists(), name
    assert not (wheel / "tests").exists()
    info = next(wheel.glob("*.dist-info"))
    assert (info / "licenses" / "LICENSE").exists()
    assert "prefixlint.__main__:main" in (info / "entry_points.txt").read_text()


def test_version_stands_in_one_place(built: dict[str, Path]) -> None:
    import prefixlint

    assert f"prefixlint-{prefixlint.__version__}.dist-info" in {p.name for p in built["wheel"].iterdir()}
