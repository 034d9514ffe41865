"""Put a guard into LangChain: ``model.invoke(..., config={"callbacks": [GuardHandler(guard)]})``."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, convert_to_openai_messages

from prefixlint.runtime.guard import Guard

_SESSIONS = ("session_id", "thread_id", "conversation_id")


class GuardHandler(BaseCallbackHandler):  # type: ignore[misc, unused-ignore]  # untyped where it is not installed
    """Check each prompt before a chat model or a completion model of any provider is called.

    The prompt is compared as LangChain has it, before the provider's package writes the body; to see the bytes of the
    wire, give the provider's client a GuardTransport. The session is ``session_id`` or ``thread_id`` of the metadata.
    """

    run_inline = True  # in the order of the calls, and in the caller's thread

    def __init__(self, guard: Guard) -> None:
        """Keep the guard; its ForkError reaches the caller."""
        self.guard = guard
        self.raise_error = guard.on_fork == "raise" or callable(guard.on_fork)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        metadata: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Check a list of messages with the tools that are bound."""
        for batch in messages:
            try:
                body = _body(batch, options.get("invocation_params") or {}, metadata)
            except Exception as error:  # the handler never breaks a call, whatever the messages are
                self.guard.note_error(error, "cannot write LangChain's messages as a body")
            else:
                self.guard.check(body, session=_session(metadata), provider="openai-chat")

    def on_llm_start(
        self, serialized: dict[str, Any], prompts: list[str], *, metadata: dict[str, Any] | None = None, **options: Any
    ) -> None:
        """Check the prompt of a completion model."""
        params = options.get("invocation_params") or {}
        for prompt in prompts:
            self.guard.check({"model": _model(params, metadata), "prompt": prompt}, session=_session(metadata))


def _body(batch: list[BaseMessage], params: dict[str, Any], metadata: dict[str, Any] | None) -> dict[str, Any]:
    front = {k: params[k] for k in ("tools", "tool_choice", "response_format") if params.get(k)}
    return {"model": _model(params, metadata), **front, "messages": convert_to_openai_messages(batch)}


def _model(params: dict[str, Any], metadata: dict[str, Any] | None) -> str:
    names = (params.get("model"), params.get("model_name"), (metadata or {}).get("ls_model_name"), params.get("_type"))
    return str(next((name for name in names if name), "unknown"))


def _session(metadata: dict[str, Any] | None) -> str | None:
    found = next((metadata[k] for k in _SESSIONS if metadata.get(k)), None) if metadata else None
    return str(found) if found else None
