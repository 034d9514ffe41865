"""Read LangSmith runs (JSON or JSON lines); messages are LangChain-serialised or role dicts."""

from __future__ import annotations

from collections.abc import Iterator

from prefixlint.errors import InputError
from prefixlint.model import Json, ReadOptions, Request, Usage
from prefixlint.sources import _json, _provider, _record, _usage, _walk
from prefixlint.sources._head import Head
from prefixlint.sources._records import Record
from prefixlint.sources._stream import Input

NAME = "langsmith"
UNORDERED = True
_NO_PROMPT = "runs without inputs; unset LANGSMITH_HIDE_INPUTS"
_KINDS = ("llm", "chat_model")  # collectors of LangChain write the second
# ``session_id`` of a run is the project, no session.
_SESSIONS = ("session_id", "thread_id", "conversation_id")


def claims(head: Head) -> bool:
    """Tell whether a record is a run."""
    return any("run_type" in r and r.keys() & {"dotted_order", "trace_id", "inputs"} for r in head.records)


def read(source: Input, options: ReadOptions) -> Iterator[Request | InputError]:
    """Read every run of type ``llm``; chains and tools repeat the same messages and are left out."""

    def convert(record: Record) -> Iterator[Request]:
        if _json.text(record.members.get("run_type")) not in _KINDS:
            return
        run = {k: _walk.value_of(record.members.get(k)) for k in ("inputs", "outputs", "extra", "prompt_token_details")}
        body = _body(run)
        if not body:
            _walk.note_once(source, _NO_PROMPT)
        extra = run["extra"] if isinstance(run["extra"], dict) else {}
        yield Request(
            id=_json.text(record.members.get("id")) or "",
            provider=_provider.provider_of(body),
            span=record.span(0),
            members=body,
            model=_model(extra),
            session=_session(extra.get("metadata")),
            at_s=_record.time_of(({"start_time": record.members.get("start_time", b"null")},)),
            usage=_usage_of(run, record.members),
            no_prompt=not body,
            rebuilt=True,
        )

    yield from _walk.walk(source, convert, lists=("runs", "data"))


def _model(extra: dict[str, Json]) -> str | None:
    metadata, params = extra.get("metadata") or {}, extra.get("invocation_params") or {}
    found = params.get("model") or params.get("model_name") or metadata.get("ls_model_name")
    return str(found) if found else None


def _session(metadata: Json) -> str | None:
    found = next((metadata[k] for k in _SESSIONS if metadata.get(k)), None) if isinstance(metadata, dict) else None
    return str(found) if found else None


def _body(run: dict[str, Json]) -> _json.Members:
    from prefixlint.sources import _langchain

    inputs = run["inputs"] if isinstance(run["inputs"], dict) else {}
    extra = run["extra"] if isinstance(run["extra"], dict) else {}
    params = {k: v for k, v in (extra.get("invocation_params") or {}).items() if not k.startswith("_")}
    messages = inputs.get("messages", inputs.get("input"))
    if isinstance(messages, list) and messages:
        first = messages[0] if isinstance(messages[0], list) else messages
        return _walk.packed({**params, **_rest(inputs), "messages": [_langchain.message(m) for m in first]})
    prompts = inputs.get("prompts") or inputs.get("prompt")
    text = prompts[0] if isinstance(prompts, list) and prompts else prompts
    return _walk.packed({**params, "prompt": text}) if isinstance(text, str) and text else {}


def _rest(inputs: dict[str, Json]) -> dict[str, Json]:
    return {k: v for k, v in inputs.items() if k in ("tools", "system", "model", "tool_choice")}


def _usage_of(run: dict[str, Json], members: _json.Members) -> Usage | None:
    """Prefer ``usage_metadata`` of the message (it includes cached tokens), then ``token_usage``, then the columns."""
    found = (
        _find(run["outputs"], "usage_metadata")
        or _find(run["outputs"], "token_usage")
        or _find(run["outputs"], "usage")
    )
    usage = _usage.usage_of(found)
    if usage:
        return usage
    counts = {k: _json.integer(members.get(k)) for k in ("prompt_tokens", "completion_tokens")}
    return _usage.usage_of({**counts, "prompt_token_details": run["prompt_token_details"]})


def _find(value: Json, key: str, depth: int = 0) -> Json:
    """Return the first object member named ``key``, near the top first."""
    if depth > 8 or not isinstance(value, dict | list):
        return None
    if isinstance(value, dict) and isinstance(value.get(key), dict):
        return value[key]
    inner = value.values() if isinstance(value, dict) else value
    return next((found for v in inner if (found := _find(v, key, depth + 1))), None)
