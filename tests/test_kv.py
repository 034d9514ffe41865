"""KV sizes and prefill times against numbers from the papers and model cards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prefixlint import kv
from prefixlint.errors import ConfigError, InputError


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("meta-llama/Meta-Llama-3-70B-Instruct", 327_680),  # 320 KB: Mooncake, FAST'25
        ("llama-3.1-8b-instruct", 131_072),  # 2 x 32 layers x 8 heads x 128 x 2 bytes
        ("Qwen/Qwen2.5-7B-Instruct", 57_344),
        ("deepseek-ai/DeepSeek-V3", 70_272),  # MLA: 61 x (512 + 64) x 2 bytes
    ],
)
def test_bytes_per_token(name: str, size: int) -> None:
    shape = kv.shape_of(name)
    assert shape is not None
    assert shape.bytes_per_token == size


def test_half_the_bytes_with_fp8() -> None:
    shape = kv.shape_of("llama-3.1-8b", "fp8")
    assert shape is not None
    assert shape.bytes_per_token == 65_536
    with pytest.raises(ConfigError, match="unknown KV type 'int3'"):
        kv.shape_of("llama-3.1-8b", "int3")


def test_break_even_bandwidth_of_the_paper() -> None:
    # FAST'25: LLaMA3-70B, 8k tokens cached, 8 x A800 with 312 TFLOPS: loading wins above about 6 GB/s
    shape = kv.shape_of("llama-3-70b")
    assert shape is not None
    assert kv.break_even_bytes(shape, kv.Hardware(flops=8 * 312e12), 8192) / 1e9 == pytest.approx(5.9, abs=0.1)


def test_a_cached_prefix_saves_its_prefill() -> None:
    shape = kv.shape_of("llama-3.1-8b")
    assert shape is not None
    cold = kv.ttft_s(shape, kv.Hardware(), prompt=8000, cached=0)
    warm = kv.ttft_s(shape, kv.Hardware(), prompt=8000, cached=7900)
    assert warm < cold / 10


def test_config_json(tmp_path: Path) -> None:
    config = {"num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
              "torch_dtype": "bfloat16"}  # fmt: skip
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert kv.shape_from_config(str(path)).bytes_per_token == 2 * 4 * 2 * 16 * 2
    path.write_text("{}")
    with pytest.raises(InputError, match="not a model config"):
        kv.shape_from_config(str(path))
