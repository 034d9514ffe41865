"""One log of each format: counts, sessions, first prompt text and usage were taken from the files by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from prefixlint.api.read import ReadOptions, open_log
from prefixlint.errors import InputError
from prefixlint.model import Request, Usage
from prefixlint.sources import _json
from prefixlint.sources._usage import added

SAMPLES = Path(__file__).parent.parent / "data" / "samples"
SYSTEM = "You are the help desk of Example Rail. Answer briefly. Quote the fare rule you used. " * 6
QUESTION = "What does the Bern to Basel single cost?"
CHATML = f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n"
# 182 + 211 + 198 + 211 input tokens, 176 of the second read from the cache, 4 answers of 14 tokens.
OPENAI = Usage(802, 176, None, 56)
# Written: 176 + 24 + 192 + 200; the same totals, since 6 + 176, 11 + 24 + 176, 6 + 192 and 11 + 200 give those above.
ANTHROPIC = Usage(802, 176, 592, 56)
UNKNOWN = Usage()


class Sample(NamedTuple):
    """Hold what a sample must give; ``text`` is the first prompt's text at ``pointer``."""

    folder: str
    format: str
    requests: int
    sessions: int
    pointer: str
    text: str
    usage: Usage


CASES = [
    Sample("aider-llm-history/.aider.llm.history", "aider", 2, 0, "/messages/0/content", SYSTEM, UNKNOWN),
    Sample("anthropic-batches", "anthropic-batch", 4, 0, "/system/0/text", SYSTEM, ANTHROPIC),
    Sample("anthropic-messages", "anthropic", 4, 0, "/system/0/text", SYSTEM, ANTHROPIC),
    Sample("azure-apim", "azure-apim", 4, 0, "/messages/0/content", SYSTEM, Usage(802, None, None, 56)),
    Sample("bedrock-invocation-log", "bedrock-invocation-log", 4, 0, "/system/0/text", SYSTEM, ANTHROPIC),
    # Two answers (msg_1 on two lines): 4 + 16200, then 4 + 160 + 16200.
    Sample(
        "claude-code-transcript", "claude-code", 2, 1, "/messages/0/content", QUESTION, Usage(32568, 16200, 16360, 180)
    ),
    # tokensIn 182 leaves out the 176 that were written.
    Sample(
        "cline-task",
        "cline",
        1,
        1,
        "/messages/0/content/0/text",
        f"<task>\n{QUESTION}\n</task>",
        Usage(358, 0, 176, 14),
    ),
    Sample("codex-rollout", "codex", 2, 1, "/instructions", SYSTEM, Usage(18100, 8960, None, 90)),
    Sample("gemini-batch", "gemini-batch", 4, 0, "/systemInstruction/parts/0/text", SYSTEM, UNKNOWN),
    Sample("gemini-cli-session", "gemini-cli", 1, 1, "/contents/0/parts/0/text", QUESTION, Usage(9000, 8000, None, 20)),
    Sample("gemini-generatecontent", "gemini", 4, 0, "/systemInstruction/parts/0/text", SYSTEM, OPENAI),
    Sample("har", "har", 4, 0, "/system/0/text", SYSTEM, ANTHROPIC),
    Sample("helicone-export", "helicone", 4, 1, "/messages/0/content", SYSTEM, OPENAI),
    # Two samples: 6 + 176, and 6 + 20 + 176.
    Sample("inspect-ai/helpdesk.eval", "inspect-ai", 2, 2, "/messages/0/content", SYSTEM, Usage(384, 176, 196, 28)),
    Sample("inspect-ai/helpdesk.json", "inspect-ai", 2, 2, "/messages/0/content", SYSTEM, Usage(384, 176, 196, 28)),
    Sample("langfuse-export", "langfuse", 4, 0, "/messages/0/content", SYSTEM, OPENAI),
    Sample("langsmith-runs", "langsmith", 4, 0, "/messages/0/content", SYSTEM, OPENAI),
    Sample("litellm-spend-logs", "litellm-spend-logs", 4, 1, "/messages/0/content", SYSTEM, OPENAI),
    Sample("litellm-standard-logging", "litellm-standard-logging", 4, 1, "/messages/0/content", SYSTEM, OPENAI),
    # Tasks of 39, 39, 30 and 59 tokens, of which 0, 29, 0 and 29 were cached; two tokens each came back.
    Sample("llamacpp-slot-log", "llamacpp-log", 4, 0, "", "", Usage(167, 58, None, 8)),
    Sample("mini-swe-agent", "mini-swe-agent", 1, 1, "/messages/0/content", SYSTEM, Usage(182, 0, None, 14)),
    Sample("mitmproxy-flows", "mitmproxy", 4, 0, "/system/0/text", SYSTEM, ANTHROPIC),
    Sample("mlflow-traces", "mlflow", 4, 0, "/messages/0/content", SYSTEM, OPENAI),
    Sample("ollama-debug-log", "ollama-log", 4, 0, "", "", Usage(802, 176, None, None)),
    Sample("openai-batch", "openai-batch", 4, 0, "/messages/0/content", SYSTEM, OPENAI),
    Sample("openai-finetune", "openai-finetune", 4, 0, "/messages/0/content", SYSTEM, UNKNOWN),
    Sample("openai-responses", "openai-responses", 4, 0, "/instructions", SYSTEM, Usage(802, 176, 0, 56)),
    Sample("openai-stored-completions", "openai-stored-completions", 4, 0, "/messages/0/content", SYSTEM, OPENAI),
    Sample("openinference-otlp", "openinference", 4, 1, "/messages/0/content", SYSTEM, OPENAI),
    Sample("otel-genai-otlp", "otel-genai", 4, 1, "/messages/0/content", SYSTEM, Usage(802, 176, 0, 56)),
    # tokenUsage.cached is promptfoo's own cache, so nothing is known about the provider's.
    Sample("promptfoo-results", "promptfoo", 4, 0, "/messages/0/content", SYSTEM, Usage(802, None, None, 56)),
    Sample("sglang-log-requests", "sglang-log", 4, 0, "", CHATML, OPENAI),
    Sample("swe-agent-traj", "swe-agent", 1, 1, "/messages/0/content", SYSTEM, UNKNOWN),
    Sample("vllm-log-requests", "vllm-log", 4, 0, "", CHATML, UNKNOWN),
]


def requests_of(*paths: str | Path, options: ReadOptions | None = None) -> list[Request]:
    """Read a log in which every record is sound."""
    found = []
    for item in open_log([str(p) for p in paths], options).requests():
        assert not isinstance(item, InputError), item
        found.append(item)
    return found


def at(request: Request, pointer: str) -> Any:
    """Return the decoded value at a pointer of the body, or the text of a raw prompt."""
    if not pointer:
        return request.text or ""
    first, *rest = pointer.split("/")[1:]
    value = _json.loads(request.members[first])
    for step in rest:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


@pytest.mark.parametrize("sample", CASES, ids=lambda s: s.folder.replace("/", "-"))
def test_sample(sample: Sample) -> None:
    log = open_log([str(SAMPLES / sample.folder)])
    found = [r for r in log.requests() if isinstance(r, Request)]
    assert {i.format for i in log.inputs()} == {sample.format}
    assert not [e for i in log.inputs() for e in i.errors]
    assert len(found) == sample.requests
    assert len({r.session for r in found} - {None}) == sample.sessions
    assert at(found[0], sample.pointer) == sample.text
    assert added([r.usage for r in found if r.usage]) == sample.usage
    assert [r.span.record for r in found] == list(range(len(found)))


def test_every_sample_is_read() -> None:
    read = {sample.folder.split("/")[0] for sample in CASES}
    assert read == {p.name for p in SAMPLES.iterdir() if p.is_dir()}


@pytest.mark.parametrize(
    ("folder", "pointer"),
    [
        pytest.param("anthropic-messages", "/system/0/text", id="anthropic"),
        pytest.param("otel-genai-otlp", "/messages/0/content", id="otel: JSON inside a string"),
        pytest.param("azure-apim", "/messages/0/content", id="azure: rows joined"),
        pytest.param("mlflow-traces", "/messages/0/content", id="mlflow: JSON inside a string"),
        pytest.param("litellm-spend-logs", "/messages/0/content", id="litellm: JSON inside a string"),
    ],
)
def test_third_request_has_the_clock(folder: str, pointer: str) -> None:
    third = requests_of(SAMPLES / folder)[2]
    assert at(third, pointer).startswith("Now: 2026-03-02 09:01:20\nYou are")
    assert third.at_s == 1772442080.0  # 2026-03-02T09:01:20Z


@pytest.mark.parametrize(
    ("folder", "tools", "name"),
    [
        ("anthropic-messages", "/tools", "/name"),
        ("openai-responses", "/tools", "/name"),
        ("otel-genai-otlp", "/tools", "/function/name"),
        ("langfuse-export", "/tools", "/function/name"),
        ("langsmith-runs", "/tools", "/function/name"),
        ("openinference-otlp", "/tools", "/function/name"),
        ("bedrock-invocation-log", "/toolConfig/tools", "/toolSpec/name"),
        ("gemini-batch", "/tools/0/functionDeclarations", "/name"),
    ],
)
def test_tool_order_survives(folder: str, tools: str, name: str) -> None:
    first, *_, last = requests_of(SAMPLES / folder)
    assert [at(first, f"{tools}/{i}{name}") for i in (0, 1)] == ["find_fare", "open_case"]
    assert [at(last, f"{tools}/{i}{name}") for i in (0, 1)] == ["open_case", "find_fare"]


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("llamacpp-slot-log", "hold no prompt text"),
        ("ollama-debug-log", "hold no prompt text"),
        ("claude-code-transcript", "neither the system prompt nor the tools"),
        ("openai-stored-completions", "save GET /v1/chat/completions/ID/messages"),
    ],
)
def test_what_is_missing_is_said(folder: str, says: str) -> None:
    log = open_log([str(SAMPLES / folder)])
    list(log.requests())
    assert any(says in note for note in log.notes())


def test_answers_without_their_requests_are_usage_only() -> None:
    found = requests_of(SAMPLES / "openai-batch" / "output.jsonl")
    assert all(r.no_prompt for r in found)
    assert added([r.usage for r in found if r.usage]) == OPENAI


def test_a_folder_of_all_samples_is_one_log_in_order_of_time() -> None:
    found = requests_of(SAMPLES)
    assert len(found) == sum(s.requests for s in CASES)
    times = [r.at_s for r in found if r.at_s is not None]
    assert times == sorted(times)
