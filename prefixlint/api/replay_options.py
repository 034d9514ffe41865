"""Read what a replay is asked for: the cache, its capacity in tokens, blocks or bytes, its tiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefixlint import engines, kv, registry
from prefixlint.api.fleet import Speed
from prefixlint.caches._base import Cache, Chainer
from prefixlint.engines import Engine
from prefixlint.errors import ConfigError
from prefixlint.model import ReadOptions

_CAPACITY = re.compile(r"([\d_,]*\.?\d+)\s*([kKMG]?)\s*(tokens?|blocks?|pages?|chunks?|[KMGT]i?B)?", re.ASCII)
_BYTES = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_NUMBERS = {
    "block-size": "block_size",
    "chunk-size": "block_size",
    "page-size": "page_size",
    "slots": "slots",
    "cpu-gb": "cpu_gb",
    "disk-gb": "disk_gb",
    "replicas": "replicas",
    "ttl": "ttl_s",
}
_TEXTS = ("capacity", "policy", "routing", "insert", "cache")
_SCALE = {"": 1, "k": 1000, "K": 1000, "M": 1_000_000, "G": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Hold one question to a cache model; None leaves a parameter at the value of the engine's data file."""

    cache: str = "vllm"
    model: str | None = None
    block_size: int | None = None
    page_size: int | None = None
    capacity: str | None = None
    policy: str | None = None
    insert: str | None = None
    slots: int | None = None
    ram_cache: float | None = None
    context: int | None = None
    similarity: float | None = None
    cache_reuse: int | None = None
    eagle: bool = False
    ttl_s: float | None = None
    replicas: int = 1
    routing: str = "one"
    overlap: Speed | None = None
    kv_model: str | None = None
    kv_config: str | None = None
    kv_dtype: str = "auto"
    hardware: kv.Hardware = field(default_factory=kv.Hardware)
    config: str | None = None
    cpu_gb: float | None = None
    disk_gb: float | None = None
    important_share: float | None = None
    per_request: bool = False
    scenarios: bool = True
    sweep: tuple[tuple[str, tuple[str, ...]], ...] = ()
    tokenizer: str | None = None
    api: str | None = None
    with_output: bool | None = None
    read: ReadOptions = field(default_factory=ReadOptions)


@dataclass(frozen=True, slots=True)
class Setup:
    """Hold a resolved question: the engine, the parameters of its family, the model's shape, what to say about it."""

    engine: Engine
    params: Mapping[str, Any]
    shape: kv.Shape | None
    notes: tuple[str, ...] = ()

    @property
    def block_tokens(self) -> int:
        """Return the unit of the cache in tokens."""
        return int(self.params.get("block_size") or self.params.get("page_size") or 1)

    def maker(self, **changes: Any) -> Callable[[], Cache]:
        """Return a function that builds the cache with some parameters changed."""
        module = registry.module("caches", self.engine.family)
        params = {**self.params, **changes}

        def make() -> Cache:
            cache: Cache = module.make(params)
            return cache

        return make


def setup(options: ReplayOptions, *, model: str | None = None, trace_block: int = 0) -> Setup:
    """Resolve the options; ``model`` is the log's, ``trace_block`` the block size of a block trace.

    Raises ConfigError for unknown names and for a capacity that cannot be understood.
    """
    engine = engines.engine(options.cache, options.model or model)
    notes: list[str] = []
    params = {**engine.params, **_given(options, engine, notes)}
    if trace_block and engine.family in ("block_hash", "tiered") and options.block_size is None:
        params["block_size"] = trace_block
    shape = _shape(options, model)
    if options.config:
        params = {**params, **_from_config(options, params, shape, notes)}
    plain = engine.family in ("radix", "slot", "tiered") or engine.params.get("discipline") == "pool"
    if options.ttl_s is not None and plain:
        notes.append(f"{engine.name} keeps entries until they are evicted; --ttl is not used")
    if params.get("policy") == "importance_score":
        share = params.get("important_share")
        notes.append(f"importance: the shares of the log where it has some (member importance), else {share:g}")
    if options.capacity is not None and engine.family in ("rounding", "breakpoint", "slot"):
        notes.append(f"{engine.name} has no capacity that can be set; --capacity is not used")
    elif options.capacity is not None:
        params["capacity"] = capacity(options.capacity, engine.family, params, shape)
    if engine.family == "tiered":
        params["tiers"] = _tiers(options, params, shape)
    if engine.family in ("block_hash", "tiered"):
        params["chainer"] = Chainer(int(params["block_size"]))
    if engine.family == "slot" and shape is not None:
        params["token_bytes"] = shape.bytes_per_token
    return Setup(engine, params, shape, tuple(notes))


def _given(options: ReplayOptions, engine: Engine, notes: list[str]) -> dict[str, Any]:
    """Collect the parameters that were given, under the names of the family."""
    known = {
        "block_hash": ("block_size", "policy", "eagle", "ttl_s"),
        "radix": ("page_size", "policy", "insert"),
        "slot": ("slots", "ram_cache", "context", "similarity", "cache_reuse"),
        "tiered": ("block_size", "policy", "important_share"),
        "breakpoint": ("ttl_s",),
        "rounding": ("ttl_s",),
    }[engine.family]
    wanted = {
        name: getattr(options, name)
        for name in ("block_size", "page_size", "policy", "insert", "slots", "ram_cache", "context", "similarity",
                     "cache_reuse", "ttl_s", "important_share")
    }  # fmt: skip
    if engine.family == "radix" and wanted["page_size"] is None:
        wanted["page_size"] = wanted["block_size"]
    if engine.family in ("block_hash", "tiered") and wanted["block_size"] is None:
        wanted["block_size"] = wanted["page_size"]
    wanted["eagle"] = options.eagle or None
    given = {k: v for k, v in wanted.items() if v is not None and k in known}
    if given.get("policy") and engine.params.get("discipline") == "pool" and given.pop("policy") != "lru":
        raise ConfigError("vllm has one policy, lru")
    return given


def _shape(options: ReplayOptions, model: str | None) -> kv.Shape | None:
    if options.kv_config:
        return kv.shape_from_config(options.kv_config, options.kv_dtype)
    name = options.kv_model or options.model or model
    shape = kv.shape_of(name, options.kv_dtype) if name else None
    if shape is None and options.kv_model:
        raise ConfigError(f"no KV size known for {options.kv_model!r}; give its config.json with --kv-config")
    return shape


def capacity(text: str, family: str, params: Mapping[str, Any], shape: kv.Shape | None) -> int:
    """Turn ``30000``, ``500blocks`` or ``40GiB`` into the unit of the family: blocks, or tokens for radix trees.

    Tokens that fill no whole block are of no use: 100 tokens of 16 are 6 blocks.
    """
    match = _CAPACITY.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"cannot read the capacity {text!r}; write tokens, 500blocks or 40GiB")
    number = float(match[1].replace("_", "").replace(",", "")) * _SCALE[match[2]]
    unit = (match[3] or "tokens").rstrip("s")
    size = int(params.get("block_size") or params.get("page_size") or 1)
    if unit in _BYTES:
        if shape is None:
            raise ConfigError(f"{text} needs the KV size of a token: --kv-model NAME or --kv-config config.json")
        number = number * _BYTES[unit] / shape.bytes_per_token
    tokens = int(number * size) if unit in ("block", "page", "chunk") else int(number)
    return tokens if family == "radix" else tokens // size


def _tiers(options: ReplayOptions, params: Mapping[str, Any], shape: kv.Shape | None) -> dict[str, int | None]:
    tiers: dict[str, int | None] = dict(params.get("tiers") or {})
    if options.capacity is not None or "gpu" not in tiers:
        tiers["gpu"] = params.get("capacity")
    for name, size in (("cpu", options.cpu_gb), ("disk", options.disk_gb)):
        if size is not None:
            tiers[name] = capacity(f"{size}GB", "tiered", params, shape)
    order = ("gpu", "cpu", "disk")
    return {name: tiers[name] for name in order if name in tiers}


def _from_config(
    options: ReplayOptions, params: Mapping[str, Any], shape: kv.Shape | None, notes: list[str]
) -> dict[str, Any]:
    """Read the ``[prefix_cache]`` table of a ``config.toml``: tier sizes, chunk size, eviction."""
    table = prefix_cache_table(options.config or "")
    found: dict[str, Any] = {}
    chunk = table.get("chunk_size") or table.get("block_size")
    if chunk and options.block_size is None:
        found["block_size"] = int(chunk)
    eviction = table.get("eviction") or table.get("eviction_policy") or table.get("policy")
    if eviction and options.policy is None:
        found["policy"] = "importance_score" if "importance" in str(eviction) else str(eviction).lower()
    tiers: dict[str, int | None] = {}
    merged = {**params, **found}
    for tier in ("gpu", "cpu", "disk"):
        size = table.get(f"{tier}_cache_gb")
        if size is not None:
            tiers[tier] = capacity(f"{size}GB", "tiered", merged, shape)
    directory = table.get("disk_cache_dir")
    if directory and "disk" not in tiers:
        tiers["disk"] = None if options.disk_gb is None else capacity(f"{options.disk_gb}GB", "tiered", merged, shape)
        if options.disk_gb is None:
            notes.append(
                f"disk_cache_dir {directory!r} has no size here: the disk tier is unbounded; --disk-gb sets it"
            )
    known = {"chunk_size", "block_size", "eviction", "eviction_policy", "policy", "disk_cache_dir", "enabled",
             "gpu_cache_gb", "cpu_cache_gb", "disk_cache_gb"}  # fmt: skip
    if rest := sorted(set(table) - known):
        notes.append(f"{options.config}: not used by the tier model: {', '.join(rest)}")
    if table.get("enabled") is False:
        notes.append(f"{options.config}: the prefix cache is switched off (enabled = false); replayed as if it were on")
    return {**found, "tiers": tiers} if tiers else found


def prefix_cache_table(path: str) -> dict[str, Any]:
    """Return the ``[prefix_cache]`` table of a TOML file. Raises ConfigError when there is none."""
    import tomllib

    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    table = document.get("prefix_cache")
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: no [prefix_cache] table in this file")
    return table


def swept(options: ReplayOptions, setting: str, value: str) -> ReplayOptions:
    """Return the options with one setting of a sweep changed. Raises ConfigError for what cannot be swept."""
    name = setting.replace("_", "-")
    changed: dict[str, Any] = {}
    try:
        if name in _NUMBERS:
            changed[_NUMBERS[name]] = float(value) if name in ("cpu-gb", "disk-gb", "ttl") else int(value)
    except ValueError as error:
        raise ConfigError(f"--sweep {setting}: {value!r} is no number") from error
    if name in _TEXTS:
        changed[name] = None if name == "capacity" and value.lower() in ("inf", "none", "unbounded") else value
    if not changed:
        raise ConfigError(f"cannot sweep {setting!r}; known: {', '.join(sorted({*_NUMBERS, *_TEXTS}))}")
    return replace(options, **changed)
