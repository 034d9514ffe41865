"""``prefixlint probe``: measure a live endpoint and say what its time to first token is made of."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from prefixlint.cli import _shared
from prefixlint.errors import ConfigError


@click.command()
@click.option("--base-url", metavar="URL", help="Where the API is, without /v1.")
@click.option("--model", help="The model to ask for.")
@click.option("--api-key-env", metavar="NAME", help="The environment variable that holds the key.")
@click.option("--api", type=click.Choice(["openai", "anthropic", "responses"]), default="openai", show_default=True)
@click.option(
    "--settings", type=click.Path(exists=True, dir_okay=False), help="settings.json, config.toml or a Codex one."
)
@click.option("--light-model", metavar="MODEL", help="Also sweep this lighter model.")
@click.option("--request", type=click.Path(exists=True, dir_okay=False), help="Also send this request, whole and cut.")
@click.option("--keep-turns", default=2, show_default=True, help="User turns that the cut request keeps.")
@click.option(
    "--lengths", default="100,1000,3000,8000", show_default=True, help="Prompt lengths of the sweep, in tokens."
)
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(1), help="Repeats of sweep and pairs.")
@click.option("--shorts", default=10, show_default=True, type=click.IntRange(1), help="Repeats of the short prompt.")
@click.option("--pair-tokens", default=4000, show_default=True, help="Length of the prefix that is sent twice.")
@click.option("--pause", default=0.2, show_default=True, help="Seconds between requests.")
@click.option("--timeout", default=120.0, show_default=True, help="Seconds that one request may take.")
@click.option("--max-requests", default=60, show_default=True, help="Never send more requests than this.")
@click.option("--max-seconds", default=600.0, show_default=True, help="Start no request after this time.")
@click.option("--seed", type=int, help="Seed of the texts; a fresh one by default, so that nothing is cached yet.")
@click.option("--dry-run", is_flag=True, help="Show what would be sent and what it costs; send nothing.")
@click.option("--format", "report_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--plot", type=click.Path(dir_okay=False), help="Write the timings as an SVG picture.")
def command(**given: Any) -> None:
    """Send paced requests to an OpenAI- or Anthropic-compatible endpoint and split its time to first token.

    Exits 0 when the prefix cache answers and 1 when a repeated prefix is computed again; 2 when nothing answers.
    """
    from prefixlint.api import probe_report, shots, wire
    from prefixlint.api.probe import judge, shoot

    where = _endpoint(given)
    plan = shots.plan(where.api, where.model, _plan_options(given))
    if given["dry_run"]:
        _shared.write_report(probe_report.dry_run(where, plan), None)
        return
    before = probe_report.server_counters(where)
    client = wire.Client(where, time.perf_counter, given["timeout"])
    with _shared.progress_bar("probing") as progress:
        samples, notes = shoot(
            plan,
            client,
            clock=time.perf_counter,
            sleep=time.sleep,
            pause_s=given["pause"],
            max_requests=given["max_requests"],
            max_seconds=given["max_seconds"],
            progress=progress or (lambda done, total: None),
        )
    client.close()
    counted = probe_report.counted(before, probe_report.server_counters(where), samples)
    verdict = judge(samples, notes=[*where.notes, *notes, *counted])
    if given["plot"]:
        Path(given["plot"]).write_text(probe_report.plot(samples, verdict), encoding="utf-8")
    write = probe_report.as_json if given["report_format"] == "json" else probe_report.as_text
    _shared.write_report(write(where, samples, verdict), None)
    sys.exit(1 if verdict.name == "cold-cache" else 0)


def _endpoint(given: dict[str, Any]) -> Any:
    """Join the command line and the settings file; the key comes from the environment variable that is named."""
    from prefixlint.api import probe_settings, wire

    found = probe_settings.read(Path(given["settings"])) if given["settings"] else probe_settings.Found()
    url, model = given["base_url"] or found.base_url, given["model"] or found.model
    if not url or not model:
        raise ConfigError("both --base-url and --model are needed, or --settings FILE that names them")
    name = given["api_key_env"] or found.api_key_env
    if name and name not in os.environ:
        raise ConfigError(f"the environment variable {name} is not set; it should hold the key")
    return wire.endpoint(url, api=given["api"], model=model, key=os.environ.get(name) if name else None)


def _plan_options(given: dict[str, Any]) -> Any:
    from prefixlint.api.shots import PlanOptions

    try:
        lengths = tuple(int(part) for part in given["lengths"].split(","))
    except ValueError:
        raise ConfigError(f"--lengths takes whole numbers with commas, not {given['lengths']!r}") from None
    request = json.loads(Path(given["request"]).read_bytes()) if given["request"] else None
    return PlanOptions(
        lengths=lengths,
        sweeps=given["repeat"],
        shorts=given["shorts"],
        pairs=given["repeat"],
        pair_tokens=given["pair_tokens"],
        light_model=given["light_model"],
        request=request,
        keep_turns=given["keep_turns"],
        seed=time.time_ns() if given["seed"] is None else given["seed"],
    )
