"""Put a guard into LiteLLM: ``litellm.callbacks = [GuardLogger(guard)]``; needs the litellm package."""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from prefixlint.runtime.guard import Guard

_PROMPT_MEMBERS = ("messages", "tools", "functions", "response_format", "tool_choice", "system", "prompt", "input")


class GuardLogger(CustomLogger):  # type: ignore[misc, unused-ignore]  # untyped where litellm is not installed
    """Check what LiteLLM is about to send, in the form of the provider it is sent to.

    In the proxy, ``on_fork="raise"`` refuses the request. In the SDK LiteLLM swallows what callbacks raise, so there
    only ``warn`` and functions make sense; to refuse, put a GuardTransport into ``litellm.client_session``.
    """

    def __init__(self, guard: Guard) -> None:
        """Keep the guard."""
        super().__init__()
        self.guard = guard

    def log_pre_api_call(self, model: str, messages: Any, kwargs: dict[str, Any]) -> None:
        """Check the body that goes over the wire; LiteLLM calls this before each call, sync or async."""
        sent = (kwargs.get("additional_args") or {}).get("complete_input_dict")
        body = sent if isinstance(sent, dict) and sent.keys() & {"messages", "contents", "input", "prompt"} else None
        if body is None:
            wanted = {**(kwargs.get("optional_params") or {}), "messages": messages}
            body = {k: v for k, v in wanted.items() if k in _PROMPT_MEMBERS}
        self.guard.check({"model": model, **body}, session=_session_of(kwargs.get("litellm_params") or kwargs))

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        """Check a request to the proxy before it is routed, and hand on its canonical form where wanted."""
        body = {k: v for k, v in data.items() if k == "model" or k in _PROMPT_MEMBERS}
        checked = self.guard.check(body, session=_session_of(data))
        return {**data, **checked.body} if checked.changed and isinstance(checked.body, dict) else data


def _session_of(params: dict[str, Any]) -> str | None:
    """Return LiteLLM's session id, where the caller gave one."""
    metadata = params.get("metadata") or {}
    found = params.get("litellm_session_id") or metadata.get("session_id") or metadata.get("trace_id")
    return str(found) if found else None
