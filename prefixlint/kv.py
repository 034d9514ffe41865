"""Sizes and times of a model's KV cache: bytes per token, and the prefill time that a cached prefix saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from prefixlint.errors import ConfigError, InputError

TABLE = Path(__file__).parent / "data" / "kv-models.toml"
DTYPE_BYTES = {"float32": 4.0, "float16": 2.0, "bfloat16": 2.0, "fp16": 2.0, "bf16": 2.0, "auto": 2.0, "int8": 1.0,
               "fp8": 1.0, "fp8_e4m3": 1.0, "fp8_e5m2": 1.0, "int4": 0.5, "fp4": 0.5}  # fmt: skip
# Mooncake, FAST'25: prefill needs layers x (A n^2 hidden + B n hidden^2) floating point operations
_A, _B = 4.0, 22.0


@dataclass(frozen=True, slots=True)
class Shape:
    """Hold what sizes and times need of a model; ``kv_values`` counts cached values per token and layer."""

    name: str
    layers: int
    hidden: int
    kv_values: int
    value_bytes: float = 2.0

    @property
    def bytes_per_token(self) -> float:
        """Return the KV bytes of one token: 327,680 for LLaMA3-70B with 2-byte values."""
        return self.layers * self.kv_values * self.value_bytes


@dataclass(frozen=True, slots=True)
class Hardware:
    """Say what computes and what loads: floating point operations per second, bytes per second, fixed seconds."""

    flops: float = 312e12
    load_bytes: float = 25e9
    base_s: float = 0.02


def shape_of(name: str, dtype: str = "auto") -> Shape | None:
    """Find a model of the table by the longest name that occurs in ``name``; None when no entry fits."""
    wanted = name.lower().replace("_", "-").rsplit("/", 1)[-1].replace("meta-llama-", "llama-")
    best: tuple[int, Mapping[str, Any]] | None = None
    for row in _table():
        for known in row["names"]:
            if known in wanted and (best is None or len(known) > best[0]):
                best = (len(known), row)
    return _shape(wanted, best[1], dtype) if best else None


def _shape(name: str, row: Mapping[str, Any], dtype: str) -> Shape:
    values = row.get("kv_values") or 2 * row["kv_heads"] * row["head_size"]
    return Shape(name, row["layers"], row["hidden"], values, value_bytes(dtype))


def value_bytes(dtype: str) -> float:
    """Return the bytes of one cached value. Raises ConfigError for an unknown type."""
    if dtype not in DTYPE_BYTES:
        raise ConfigError(f"unknown KV type {dtype!r}; known: {', '.join(DTYPE_BYTES)}")
    return DTYPE_BYTES[dtype]


def shape_from_config(path: str, dtype: str = "auto") -> Shape:
    """Read a Hugging Face ``config.json``: layers, KV heads, head size, and the type unless one is given."""
    import json

    try:
        config = json.loads(Path(path).read_bytes())
        config = config.get("text_config", config)
        layers, hidden = int(config["num_hidden_layers"]), int(config["hidden_size"])
        heads = int(config["num_attention_heads"])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"not a model config.json: {error!s} is missing or wrong"
        raise InputError(message, path=path) from error
    kv_heads = int(config.get("num_key_value_heads") or heads)
    size = int(config.get("head_dim") or hidden // heads)
    values = 2 * kv_heads * size
    if config.get("kv_lora_rank"):  # MLA caches one compressed vector and the rotary part
        values = int(config["kv_lora_rank"]) + int(config.get("qk_rope_head_dim") or 0)
    own = str(config.get("torch_dtype") or config.get("dtype") or "auto")
    return Shape(Path(path).parent.name or "config.json", layers, hidden, values,
                 value_bytes(own if dtype == "auto" and own in DTYPE_BYTES else dtype))  # fmt: skip


def prefill_flops(shape: Shape, tokens: float) -> float:
    """Return the floating point operations of a prefill of ``tokens`` tokens."""
    return shape.layers * (_A * tokens**2 * shape.hidden + _B * tokens * shape.hidden**2)


def ttft_s(shape: Shape, hardware: Hardware, *, prompt: float, cached: float, loaded: float = 0) -> float:
    """Estimate the seconds to the first token: fixed part, prefill of what is not cached, loading from other tiers.

    Queueing and batching are not in it. ``loaded`` counts the cached tokens that lie outside of the GPU.
    """
    work = prefill_flops(shape, prompt) - prefill_flops(shape, cached)
    return hardware.base_s + work / hardware.flops + loaded * shape.bytes_per_token / hardware.load_bytes


def break_even_bytes(shape: Shape, hardware: Hardware, tokens: float) -> float:
    """Return the bandwidth above which loading a prefix beats computing it (LLaMA3-70B, 8k, 8 x A100: 5.9 GB/s)."""
    return tokens * shape.bytes_per_token * hardware.flops / prefill_flops(shape, tokens)


@cache
def _table() -> tuple[Mapping[str, Any], ...]:
    import tomllib

    rows: list[Mapping[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))["model"]
    return tuple(rows)
