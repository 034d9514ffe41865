"""Record reused prompt tokens per request from the llama.cpp server, in-process, on a tiny random model.

In an environment of its own:

    pip install gguf numpy xllamacpp==2026.10.11549
    python tests/oracles/record_llamacpp.py

The model has one layer and random weights; which tokens it would say does not matter, because each answer is forced to
repeat one token. ``cache_n`` of the server's timings counts the tokens taken from the cache.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import gguf
import numpy as np
import workloads
import xllamacpp
from _store import store

VOCABULARY = 1300
CONTEXT = 8192


def write_model(path: Path) -> None:
    """Write a one-layer Llama model with random weights."""
    size, inner, rng = 32, 64, np.random.default_rng(0)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(1 << 17)
    writer.add_embedding_length(size)
    writer.add_block_count(1)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(size // 2)
    writer.add_vocab_size(VOCABULARY)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    kinds += [gguf.TokenType.NORMAL] * (VOCABULARY - len(tokens))
    tokens += [f"▁t{i}" for i in range(len(tokens), VOCABULARY)]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * VOCABULARY)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    shapes = {
        "token_embd": (VOCABULARY, size), "output": (VOCABULARY, size), "output_norm": (size,),
        "blk.0.attn_norm": (size,), "blk.0.ffn_norm": (size,), "blk.0.attn_q": (size, size),
        "blk.0.attn_k": (size, size), "blk.0.attn_v": (size, size), "blk.0.attn_output": (size, size),
        "blk.0.ffn_gate": (inner, size), "blk.0.ffn_up": (inner, size), "blk.0.ffn_down": (size, inner),
    }  # fmt: skip
    for name, shape in shapes.items():
        weights = np.ones(shape) if name.endswith("norm") else rng.standard_normal(shape) * 0.05
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def server(job: workloads.Job, model: Path) -> xllamacpp.Server:
    """Start a server with the parameters of a job."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_parallel, params.n_ctx = job["slots"], CONTEXT * job["slots"]
    params.n_cache_reuse, params.cache_ram_mib = job["cache_reuse"], job["ram_cache"]
    params.slot_prompt_similarity = job["similarity"]
    params.n_predict, params.warmup, params.kv_unified, params.cpuparams.n_threads = 1, False, False, 1
    params.endpoint_slots, params.verbosity, params.ctx_shift, params.fit_params = True, -1, False, False
    return xllamacpp.Server(params)


def hits(job: workloads.Job, model: Path) -> list[int]:
    """Run one job."""
    running = server(job, model)
    return [_one(running, record) for record in workloads.requests_of(job)]


def _one(running: xllamacpp.Server, record: workloads.Record) -> int:
    output = record["output"]
    answer = running.handle_completions(
        {
            "prompt": record["tokens"], "n_predict": len(output), "temperature": 0, "cache_prompt": True,
            "id_slot": -1, "ignore_eos": True, "logit_bias": [[output[0], 1000.0]],
        }
    )  # fmt: skip
    answer = json.loads(answer) if isinstance(answer, str) else answer
    return int(answer["timings"]["cache_n"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        write_model(path)
        answers = [(job, hits(job, path)) for job in workloads.plan("llamacpp")]
    store("llamacpp", xllamacpp.__version__, answers)
