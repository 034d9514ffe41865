"""Records made by the real libraries are read back; each test is skipped where its library is not installed.

Install them with ``pip install --group formats`` and run with ``-W ignore``, since the libraries warn at exit.
No test opens a connection: answers come from a mock transport.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.read import open_log
from prefixlint.errors import InputError
from prefixlint.model import Request, Usage
from prefixlint.sources import _json

pytestmark = pytest.mark.filterwarnings("ignore")  # of other people's libraries

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Bern?"}]
TOOL = {"type": "function", "function": {"name": "find_fare", "parameters": {"type": "object", "properties": {}}}}
CHAT_USAGE = {
    "prompt_tokens": 30,
    "completion_tokens": 4,
    "total_tokens": 34,
    "prompt_tokens_details": {"cached_tokens": 16},
}
CHAT_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1772442000,
    "model": "gpt-5",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "41 francs."}}],
    "usage": CHAT_USAGE,
}


def read(path: Path) -> tuple[list[Request], set[str]]:
    """Return the requests of a log without errors, and its formats."""
    log = open_log([str(path)])
    found = []
    for item in log.requests():
        assert not isinstance(item, InputError), item
        found.append(item)
    return found, {i.format for i in log.inputs()}


def body(request: Request, key: str) -> Any:
    return _json.loads(request.members[key])


class Recorder:
    """Answer every HTTP request with the same JSON, and write the exchange as a line."""

    def __init__(self, path: Path, answer: dict[str, Any], httpx: str = "httpx") -> None:
        self.httpx = pytest.importorskip(httpx)
        self._path = path
        self._answer = answer

    def client(self) -> Any:
        return self.httpx.Client(transport=self.httpx.MockTransport(self._handle))

    def _handle(self, request: Any) -> Any:
        record = {"ts": 5.0, "url": str(request.url), "request": request.content.decode(), "response": self._answer}
        with self._path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(record) + "\n")
        return self.httpx.Response(200, json=self._answer)


def openai_client(folder: Path, answer: dict[str, Any] | None = None) -> tuple[Any, Path]:
    openai = pytest.importorskip("openai")
    path = folder / "log.jsonl"
    return openai.OpenAI(api_key="k", http_client=Recorder(path, answer or CHAT_ANSWER).client()), path


def test_openai_chat(tmp_path: Path) -> None:
    client, path = openai_client(tmp_path)
    client.chat.completions.create(model="gpt-5", messages=MESSAGES, tools=[TOOL])
    found, formats = read(path)
    assert formats == {"openai-chat"}
    assert [(body(r, "messages"), r.model, r.usage) for r in found] == [(MESSAGES, "gpt-5", Usage(30, 16, None, 4))]


def test_openai_responses(tmp_path: Path) -> None:
    usage = {
        "input_tokens": 30,
        "output_tokens": 4,
        "total_tokens": 34,
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    usage["input_tokens_details"] = {"cached_tokens": 16}
    said = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": []}
    answer = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [said], "usage": usage}
    client, path = openai_client(tmp_path, answer)
    client.responses.create(model="gpt-5", instructions="Be brief.", input="Bern?")
    client.responses.create(model="gpt-5", instructions="Be brief.", input="Basel?", previous_response_id="resp_1")
    found, formats = read(path)
    assert formats == {"openai-responses"}
    assert [i.get("role") for i in body(found[1], "input")] == ["user", "assistant", "user"]
    assert found[0].usage == Usage(30, 16, None, 4)


def test_anthropic(tmp_path: Path) -> None:
    anthropic = pytest.importorskip("anthropic")
    usage = {"input_tokens": 4, "cache_read_input_tokens": 16, "cache_creation_input_tokens": 10, "output_tokens": 4}
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "c", "content": [], "usage": usage}
    path = tmp_path / "log.jsonl"
    httpx = "httpx2" if hasattr(anthropic._base_client, "httpx2") else "httpx"
    client = anthropic.Anthropic(api_key="k", http_client=Recorder(path, answer, httpx).client())
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    client.messages.create(model="claude-x", max_tokens=9, system=system, messages=MESSAGES[1:])
    found, formats = read(path)
    assert formats == {"anthropic"}
    assert [(body(r, "system"), r.usage) for r in found] == [(system, Usage(30, 16, 10, 4))]


def test_google_genai(tmp_path: Path) -> None:
    genai = pytest.importorskip("google.genai")
    path = tmp_path / "log.jsonl"
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "41"}]}}],
        "usageMetadata": {"promptTokenCount": 30, "cachedContentTokenCount": 16, "candidatesTokenCount": 4},
        "modelVersion": "gemini-x",
    }
    http = genai.types.HttpOptions(httpx_client=Recorder(path, answer).client())
    client = genai.Client(api_key="k", http_options=http)
    config = genai.types.GenerateContentConfig(system_instruction="Be brief.")
    client.models.generate_content(model="gemini-x", contents="Bern?", config=config)
    found, formats = read(path)
    assert formats == {"gemini"}
    assert [(body(r, "contents")[0]["parts"][0]["text"], r.usage) for r in found] == [("Bern?", Usage(30, 16, None, 4))]


def test_litellm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    payloads: list[dict[str, Any]] = []

    class Callback(litellm.integrations.custom_logger.CustomLogger):  # type: ignore[misc, name-defined]
        async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
            payloads.append(kwargs["standard_logging_object"])

    async def call() -> None:
        await litellm.acompletion(model="gpt-4o", messages=MESSAGES, tools=[TOOL], mock_response="41")
        deadline = time.monotonic() + 20  # the library logs behind the call
        while not payloads and time.monotonic() < deadline:
            await asyncio.sleep(0.05)

    litellm.callbacks = [Callback()]
    asyncio.run(call())
    litellm.callbacks = []
    path = tmp_path / "payload.json"
    path.write_text(json.dumps(payloads[0], default=str))
    found, formats = read(path)
    assert formats == {"litellm-standard-logging"}
    assert [(body(r, "messages"), body(r, "tools"), r.model) for r in found] == [(MESSAGES, [TOOL], "gpt-4o")]
    assert found[0].usage is not None
    assert found[0].usage.input_tokens == payloads[0]["prompt_tokens"]


def exported(path: Path, instrument: Callable[[Any], Any], act: Callable[[], object]) -> None:
    """Run ``act`` under an instrumentation, and write its spans as OTLP JSON lines."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.common")
    from google.protobuf import json_format
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = instrument(provider)
    try:
        act()
    finally:
        instrumentor.uninstrument()
    spans = exporter.get_finished_spans()
    path.write_text(json.dumps(json_format.MessageToDict(encode_spans(spans))) + "\n")


def chat_under(folder: Path, instrument: Callable[[Any], Any]) -> tuple[list[Request], set[str]]:
    client, _ = openai_client(folder)
    path = folder / "traces.jsonl"
    exported(path, instrument, lambda: client.chat.completions.create(model="gpt-5", messages=MESSAGES, tools=[TOOL]))
    return read(path)


def test_opentelemetry_genai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip("opentelemetry.util.genai.handler")
    from opentelemetry.util.genai.types import FunctionToolDefinition, InputMessage, TextPart

    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")

    class Handler:
        def __init__(self, provider: Any) -> None:
            call = module.TelemetryHandler(tracer_provider=provider).inference("openai", request_model="gpt-5")
            call.system_instruction = [TextPart(content="Be brief.")]
            call.input_messages = [InputMessage(role="user", parts=[TextPart(content="Bern?")])]
            call.tool_definitions = [FunctionToolDefinition("find_fare", None, {"type": "object"})]
            call.input_tokens, call.output_tokens, call.cache_read_input_tokens = 30, 4, 16
            call.stop()

        def uninstrument(self) -> None:
            """Do nothing: the span was made by hand."""

    path = tmp_path / "traces.jsonl"
    exported(path, Handler, lambda: None)
    found, formats = read(path)
    assert formats == {"otel-genai"}
    assert [(body(r, "messages"), r.usage) for r in found] == [(MESSAGES, Usage(30, 16, None, 4))]
    assert [t["function"]["name"] for t in body(found[0], "tools")] == ["find_fare"]


def test_openllmetry_openai(tmp_path: Path) -> None:
    module = pytest.importorskip("opentelemetry.instrumentation.openai")

    def instrument(provider: Any) -> Any:
        made = module.OpenAIInstrumentor()
        made.instrument(tracer_provider=provider)
        return made

    found, formats = chat_under(tmp_path, instrument)
    assert formats == {"otel-genai"}
    assert [body(r, "messages") for r in found] == [MESSAGES]
    assert [t["function"]["name"] for t in body(found[0], "tools")] == ["find_fare"]
    assert found[0].usage is not None
    assert found[0].usage.input_tokens == 30


def test_openinference_openai(tmp_path: Path) -> None:
    module = pytest.importorskip("openinference.instrumentation.openai")

    def instrument(provider: Any) -> Any:
        made = module.OpenAIInstrumentor()
        made.instrument(tracer_provider=provider)
        return made

    found, formats = chat_under(tmp_path, instrument)
    assert formats == {"openinference"}
    assert [(body(r, "messages"), body(r, "tools")) for r in found] == [(MESSAGES, [TOOL])]
    assert found[0].usage == Usage(30, 16, None, 4)


def test_langsmith_run_of_langchain(tmp_path: Path) -> None:
    langsmith = pytest.importorskip("langsmith")
    langchain_openai = pytest.importorskip("langchain_openai")
    from langchain_core.tracers.langchain import LangChainTracer, wait_for_all_tracers

    made: dict[str, dict[str, Any]] = {}

    class Client(langsmith.Client):  # type: ignore[misc, name-defined]
        def create_run(self, name: str, inputs: Any, run_type: str, **more: Any) -> None:
            made[str(more["id"])] = {"name": name, "inputs": inputs, "run_type": run_type, **more}

        def update_run(self, run_id: Any, **more: Any) -> None:
            made[str(run_id)].update({k: v for k, v in more.items() if v is not None})

    client = Client(api_key="k", api_url="http://localhost:1", auto_batch_tracing=False)
    http = Recorder(tmp_path / "http.jsonl", CHAT_ANSWER).client()
    model = langchain_openai.ChatOpenAI(model="gpt-5", api_key="k", http_client=http)
    given = [("system", "Be brief."), ("user", "Bern?")]
    model.bind_tools([TOOL]).invoke(given, {"callbacks": [LangChainTracer(client=client)]})
    wait_for_all_tracers()
    runs = tmp_path / "runs.jsonl"
    runs.write_text("".join(json.dumps(run, default=str) + "\n" for run in made.values()))
    found, formats = read(runs)
    assert formats == {"langsmith"}
    assert [(body(r, "messages"), r.model) for r in found] == [(MESSAGES, "gpt-5")]
    assert [t["function"]["name"] for t in body(found[0], "tools")] == ["find_fare"]
    assert found[0].usage == Usage(30, 16, None, 4)


def test_langfuse_observation(tmp_path: Path) -> None:
    pytest.importorskip("langfuse")
    from langfuse.api import ObservationV2

    fields = {"id": "o", "trace_id": "t", "type": "GENERATION", "start_time": "2026-03-02T09:00:00Z", "project_id": "p"}
    fields |= {"level": "DEFAULT", "environment": "default", "input": json.dumps(MESSAGES)}
    fields |= {"usage_details": {"input": 14, "input_cached_tokens": 16, "output": 4, "total": 34}}  # type: ignore[dict-item]
    path = tmp_path / "observations.jsonl"
    path.write_text(ObservationV2.model_validate(fields).json() + "\n")
    found, formats = read(path)
    assert formats == {"langfuse"}
    assert [(body(r, "messages"), r.usage) for r in found] == [(MESSAGES, Usage(30, 16, None, 4))]


def test_mlflow_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    with mlflow.start_span("chat", span_type="CHAT_MODEL") as span:
        span.set_inputs({"model": "gpt-5", "messages": MESSAGES})
        span.set_outputs(CHAT_ANSWER)
    trace = mlflow.get_trace(span.trace_id, flush=True)
    path = tmp_path / "traces.jsonl"
    path.write_text(trace.to_json() + "\n")
    found, formats = read(path)
    assert formats == {"mlflow"}
    assert [(body(r, "messages"), r.usage) for r in found] == [(MESSAGES, Usage(30, 16, None, 4))]


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_inspect_ai(tmp_path: Path, log_format: str) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate, system_message

    output = ModelOutput.from_content("mockllm/model", "41 francs.")
    output.usage = ModelUsage(input_tokens=14, output_tokens=4, total_tokens=34, input_tokens_cache_read=16)
    long = "Be brief. " * 100  # long texts become attachments
    task = inspect_ai.Task(dataset=[Sample(input="Bern?")], solver=[system_message(long), generate()])
    model = get_model("mockllm/model", custom_outputs=[output])
    inspect_ai.eval(task, model=model, log_dir=str(tmp_path), log_format=log_format, display="none")
    found, formats = read(next(tmp_path.glob(f"*.{log_format}")))
    assert formats == {"inspect-ai"}
    assert [[m["content"] for m in body(r, "messages")] for r in found] == [[long, "Bern?"]]
    assert found[0].usage == Usage(30, 16, None, 4)


def test_mitmproxy(tmp_path: Path) -> None:
    pytest.importorskip("mitmproxy")
    from mitmproxy import http, io
    from mitmproxy.test import tflow

    flow = tflow.tflow(resp=True)
    sent = json.dumps({"model": "gpt-5", "messages": MESSAGES}).encode()
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    flow.request = http.Request.make("POST", "https://api.openai.com/v1/chat/completions", sent, headers)
    flow.response = http.Response.make(200, json.dumps(CHAT_ANSWER).encode(), {"content-encoding": "zstd"})
    flow.request.timestamp_start = 5.5
    path = tmp_path / "capture.flow"
    with path.open("wb") as out:
        io.FlowWriter(out).add(flow)
    found, formats = read(path)
    assert formats == {"mitmproxy"}
    assert [(body(r, "messages"), r.usage, r.at_s) for r in found] == [(MESSAGES, Usage(30, 16, None, 4), 5.5)]
