"""``prefixlint replay``: run a log through a cache model."""

from __future__ import annotations

import sys
from typing import Any

import click

from prefixlint.cli import _shared


def _sweep(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[Any, ...]:
    """Read ``capacity=1000,2000`` into ``("capacity", ("1000", "2000"))``."""
    found = []
    for value in values:
        name, _, rest = value.partition("=")
        points = tuple(p.strip() for p in rest.split(",") if p.strip())
        if not name or not points:
            raise click.BadParameter(f"{value!r}: write NAME=A,B,C, such as capacity=10000,20000")
        found.append((name.strip(), points))
    return tuple(found)


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--cache", metavar="NAME", default="auto", show_default=True, help="vllm, sglang, anthropic, openai ...")
@click.option("--model", metavar="NAME", help="Take this model's facts and sizes instead of those of the log.")
@click.option("--block-size", "--chunk-size", type=click.IntRange(1), metavar="N", help="Tokens per block or chunk.")
@click.option("--page-size", type=click.IntRange(1), metavar="N", help="Tokens per page of a radix tree.")
@click.option("--capacity", metavar="SIZE", help="30000 (tokens), 500blocks or 40GiB; unbounded when left out.")
@click.option("--policy", metavar="NAME", help="lru, lfu, fifo, filo, mru, priority, slru, importance_score ...")
@click.option("--insert", type=click.Choice(["once", "two-step"]), help="How SGLang inserts a request.")
@click.option("--slots", type=click.IntRange(1), metavar="N", help="Slots of a llama.cpp server.")
@click.option("--ram-cache", is_flag=False, flag_value=8192.0, type=float, metavar="[MIB]",
              help="Prompt cache in RAM of a llama.cpp server; 8192 MiB without a number.")  # fmt: skip
@click.option("--context", type=click.IntRange(1), metavar="N", help="Context of a llama.cpp server in tokens.")
@click.option("--similarity", type=float, metavar="X", help="Slot prompt similarity of a llama.cpp server.")
@click.option("--cache-reuse", type=click.IntRange(0), metavar="N", help="Smallest chunk that llama.cpp shifts.")
@click.option("--eagle", is_flag=True, help="vLLM with EAGLE: the last matched block is computed again.")
@click.option("--ttl", "ttl_s", type=float, metavar="SECONDS", help="Lifetime of an entry that is not used.")
@click.option("--replicas", type=click.IntRange(1), default=1, show_default=True, help="Replicas with a cache each.")
@click.option("--routing", default="one", show_default=True, metavar="NAME",
              help="one, round-robin, sticky or prefix-aware.")  # fmt: skip
@click.option("--overlap", is_flag=False, flag_value=8000.0, type=float, metavar="[TOKENS/S]",
              help="Requests overlap in time: what is not computed yet cannot hit. Prefill speed, 8000.")  # fmt: skip
@click.option("--kv-model", metavar="NAME", help="Model whose KV size counts for --capacity 40GiB and the times.")
@click.option("--kv-config", type=click.Path(exists=True, dir_okay=False), help="config.json of that model.")
@click.option("--kv-dtype", default="auto", show_default=True, metavar="TYPE", help="fp16, bf16, fp8 ...")
@click.option("--tflops", type=float, metavar="N", help="Speed of the prefill hardware for the time to first token.")
@click.option("--load-gbps", type=float, metavar="N", help="GB/s at which cached KV is loaded from CPU or disk.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False), help="config.toml with [prefix_cache].")
@click.option("--cpu-gb", type=float, metavar="N", help="Size of the CPU tier.")
@click.option("--disk-gb", type=float, metavar="N", help="Size of the disk tier.")
@click.option("--important-share", type=float, metavar="X", help="Share of important KV where the log has none.")
@click.option("--sweep", multiple=True, callback=_sweep, metavar="NAME=A,B,C",
              help="Answer for each value: capacity, policy, block-size, page-size, slots, replicas ...")  # fmt: skip
@click.option("--server-log", multiple=True, type=click.Path(exists=True), help="Log of vLLM, SGLang or llama.cpp.")
@click.option("--metrics", multiple=True, type=click.Path(exists=True), help="Prometheus text of the server.")
@click.option("--gpu-log", multiple=True, type=click.Path(exists=True), help="CSV of nvidia-smi with memory.used.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Write the curves to this file (svg, or png, pdf).")
@click.option("--per-request", is_flag=True, help="Say what each request read.")
@click.option("--scenarios/--no-scenarios", default=True, help="Compare today with the log after fixes.")
@click.option("--output-tokens/--no-output-tokens", "with_output", default=None,
              help="Count recorded answers as cached.")  # fmt: skip
@click.option("--input-format", metavar="NAME", help="Read the inputs as this format instead of detecting it.")
@click.option("--format", "report_format", default="text", show_default=True, metavar="NAME", help="text, json or csv.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the report to this file.")
@click.option("--tokenizer", metavar="NAME|FILE", help="Count with this vocabulary instead of the model's own.")
@click.option("--render", "api", metavar="API", help="Take the send order of this API instead of the detected one.")
@click.option("--session", multiple=True, help="Only these sessions.")
@click.option("--since", metavar="TIME", help="Only requests at or after this ISO time.")
@click.option("--until", metavar="TIME", help="Only requests before this ISO time.")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Rows of each table; 0 shows all.")
@click.option("--redact", is_flag=True, help="Show lengths and hashes instead of text.")
def command(logs: tuple[str, ...], report_format: str, output: str | None, **options: Any) -> None:
    """Run request logs, token traces or block traces through a cache model.

    Exits 0, or 2 when a part of the input could not be read.
    """
    code = _shared.index_report(logs, "replay", report_format=report_format, output=output, **options)
    if code is not None:
        sys.exit(code)
    from prefixlint.api import replay, replay_evidence
    from prefixlint.model import ReportOptions
    from prefixlint.report import plots

    report = _shared.reporter(report_format, "replay")
    show = ReportOptions(redact=options["redact"], top=options["top"], color=_shared.wants_color() and not output)
    with _shared.progress_bar("replaying") as progress:
        result = replay.replay(logs, _wanted(options, progress))
    result = replay_evidence.beside(
        result, server_logs=options["server_log"], metrics=options["metrics"], gpu_logs=options["gpu_log"]
    )
    if options["plot"]:
        plots.write(result, options["plot"])
    if not options["per_request"] and report_format == "json":
        from dataclasses import replace

        result = replace(result, reads=(), paths=())
    _shared.write_report(report(result, show), output)
    sys.exit(_shared.exit_code(result.inputs, problems=False))


def _wanted(options: dict[str, Any], progress: Any) -> Any:
    """Turn the command line into the typed question."""
    from prefixlint import kv
    from prefixlint.api.fleet import Speed
    from prefixlint.api.replay import ReplayOptions
    from prefixlint.model import ReadOptions

    usual = kv.Hardware()
    hardware = kv.Hardware(
        (options["tflops"] or usual.flops / 1e12) * 1e12, (options["load_gbps"] or usual.load_bytes / 1e9) * 1e9
    )
    same = (
        "cache model block_size page_size capacity policy insert slots ram_cache context similarity cache_reuse eagle "
        "ttl_s replicas routing kv_model kv_config kv_dtype config cpu_gb disk_gb important_share per_request "
        "scenarios sweep tokenizer api with_output"
    ).split()
    read = ReadOptions(
        input_format=options["input_format"],
        sessions=options["session"],
        since=options["since"],
        until=options["until"],
        progress=progress,
    )
    overlap = Speed(options["overlap"]) if options["overlap"] else None
    return ReplayOptions(**{name: options[name] for name in same}, overlap=overlap, hardware=hardware, read=read)
