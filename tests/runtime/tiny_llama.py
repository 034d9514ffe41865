"""llama.cpp's own server in this process (package xllamacpp), serving a one-layer random model on loopback."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import xllamacpp

VOCABULARY = 1300
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"


def write_model(path: Path, *, width: int = 32, heads: int = 2, inner: int = 64) -> None:
    """Write the smallest Llama that the server loads: one layer, byte tokens, weights from a fixed seed."""
    rnd = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return (rnd.standard_normal(shape) * 0.05).astype(np.float32)

    out = gguf.GGUFWriter(str(path), "llama")
    out.add_context_length(1 << 14)
    out.add_embedding_length(width)
    out.add_block_count(1)
    out.add_feed_forward_length(inner)
    out.add_head_count(heads)
    out.add_head_count_kv(heads)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(width // heads)
    out.add_vocab_size(VOCABULARY)
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    tokens += [f"▁t{i}" for i in range(len(tokens), VOCABULARY)]
    kinds += [gguf.TokenType.NORMAL] * (VOCABULARY - len(kinds))
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens)
    out.add_token_scores([0.0] * VOCABULARY)
    out.add_token_types(kinds)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)
    out.add_add_bos_token(False)
    out.add_tensor("token_embd.weight", weights(VOCABULARY, width))
    out.add_tensor("output.weight", weights(VOCABULARY, width))
    out.add_tensor("output_norm.weight", np.ones(width, np.float32))
    for name in ("attn_norm", "ffn_norm"):
        out.add_tensor(f"blk.0.{name}.weight", np.ones(width, np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        out.add_tensor(f"blk.0.{name}.weight", weights(width, width))
    out.add_tensor("blk.0.ffn_gate.weight", weights(inner, width))
    out.add_tensor("blk.0.ffn_up.weight", weights(inner, width))
    out.add_tensor("blk.0.ffn_down.weight", weights(width, inner))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def start(model: Path) -> Any:
    """Start a server with one slot; its HTTP side listens on a free port of loopback."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx, params.n_parallel, params.n_cache_reuse = 8192, 1, 0
    params.cache_ram_mib, params.warmup, params.kv_unified = 0, False, False
    params.cpuparams.n_threads, params.verbosity, params.port = 1, -1, 0
    params.chat_template = TEMPLATE
    for name in ("ctx_shift", "fit_params"):
        if hasattr(params, name):
            setattr(params, name, False)
    return xllamacpp.Server(params)


def counted(model: Path, bodies: Sequence[dict[str, Any]]) -> list[int]:
    """Ask a fresh engine for the same bodies, without HTTP, and return its own count of reused tokens for each."""
    server = start(model)
    answers = (server.handle_chat_completions({**body, "stream": False}) for body in bodies)
    return [(json.loads(a) if isinstance(a, str) else a)["timings"]["cache_n"] for a in answers]
