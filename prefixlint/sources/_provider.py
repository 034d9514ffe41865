"""Tell which API a request body is for, from its members.

OpenAI Chat and Anthropic Messages look alike. What decides, strongest first: members and shapes that only one of them
has (``system``, ``tools[].input_schema``, ``tools[].function``, roles ``system`` / ``developer`` / ``tool``,
``tool_calls``, content blocks ``tool_use`` / ``tool_result``). When nothing decides, a ``claude`` model with
``max_tokens`` (which Anthropic requires) is Anthropic, and everything else OpenAI Chat, which most servers speak.
Strong signs of both make two candidates, and the caller must not choose between them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

CHAT = "openai-chat"
RESPONSES = "openai-responses"
ANTHROPIC = "anthropic"
GEMINI = "gemini"
CONVERSE = "bedrock-converse"
RAW = "raw"
TOKENS = "token-trace"
BODIES = (CHAT, RESPONSES, ANTHROPIC, GEMINI, CONVERSE, RAW)

_BODY_KEYS = frozenset(
    ("messages", "contents", "prompt", "input", "text", "inputs", "tokens", "input_ids", "prompt_token_ids")
)
_CHAT_ONLY = {"frequency_penalty", "presence_penalty", "response_format", "logit_bias", "n", "max_completion_tokens"}
_CHAT_ONLY |= {"functions", "function_call", "parallel_tool_calls", "stream_options", "logprobs", "reasoning_effort"}
_CHAT_ONLY |= {"messages_format", "chat_template_kwargs", "add_generation_prompt", "seed"}
_ANTHROPIC_ONLY = {"anthropic_version", "anthropic_beta", "stop_sequences", "mcp_servers", "context_management"}
_CHAT_ROLE = re.compile(rb'"role"\s*:\s*"(?:system|developer|tool|function)"')
_ANTHROPIC_BLOCK = re.compile(rb'"type"\s*:\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"')
_SCHEMA_TOOL = re.compile(rb'"input_schema"\s*:')
_TEXT_BLOCK = re.compile(rb'\{\s*"(?:text|cachePoint|image|document|toolUse|toolResult)"\s*:')
# Parameters of the request bodies themselves, by the references of the four APIs and of common servers.
PARAMETERS = frozenset(
    """model messages system tools tool_choice max_tokens max_completion_tokens max_output_tokens temperature top_p
    top_k stream stream_options stop stop_sequences metadata n seed user thinking output_config response_format
    service_tier parallel_tool_calls reasoning reasoning_effort prompt_cache_key prompt_cache_retention cache_salt
    cache_prompt instructions input include store text truncation previous_response_id conversation presence_penalty
    frequency_penalty logprobs top_logprobs logit_bias verbosity container context_management safety_identifier
    contents systemInstruction system_instruction toolConfig generationConfig safetySettings cachedContent prompt
    n_predict suffix echo best_of chat_template_kwargs""".split()
)
_TYPED_TEXT = re.compile(rb'"type"\s*:\s*"text"')
_LOOK_BYTES = 1 << 14  # roles and blocks show early; the whole history need not be searched


def is_body(members: Mapping[str, bytes]) -> bool:
    """Tell whether an object can be a request body itself, and not only something that holds one."""
    return bool(candidates(members))


def candidates(members: Mapping[str, bytes]) -> tuple[str, ...]:
    """Name the APIs that a body fits; empty when it is no request body, two when it has strong signs of both."""
    if _BODY_KEYS.isdisjoint(members):
        return ()
    if members.get("messages", b"").startswith(b"["):
        return _of_messages(members)
    if members.get("contents", b"").startswith(b"["):
        return (GEMINI,)
    if _is_tokens(members):
        return (TOKENS,)
    if _is_prompt(members):
        return (RAW,)
    if _is_responses(members):
        return (RESPONSES,)
    return ()


def provider_of(members: Mapping[str, bytes], default: str = CHAT) -> str:
    """Name the API of a body; of two candidates the first."""
    found = candidates(members)
    return found[0] if found else default


def from_url(url: str) -> str | None:
    """Tell the API from the address that was called."""
    path = url.partition("?")[0].rstrip("/")
    if path.endswith("/chat/completions"):
        return CHAT
    if path.endswith("/responses"):
        return RESPONSES
    if path.endswith("/messages"):
        return ANTHROPIC
    if path.endswith(("/converse", "/converse-stream")):
        return CONVERSE
    if "generateContent" in path or "streamGenerateContent" in path:
        return GEMINI
    return RAW if path.endswith(("/completions", "/completion", "/generate")) else None


def _is_tokens(members: Mapping[str, bytes]) -> bool:
    for key in ("tokens", "input_ids", "prompt_token_ids"):
        raw = members.get(key, b"")
        if raw.startswith(b"[") and raw[1:].lstrip()[:1] in b"0123456789]":
            return True
    prompt = members.get("prompt", b"")
    return prompt.startswith(b"[") and prompt[1:].lstrip()[:1].isdigit()


def _is_prompt(members: Mapping[str, bytes]) -> bool:
    if members.get("prompt", b"").startswith(b'"'):
        return True
    sampling = members.keys() & {"sampling_params", "max_new_tokens", "parameters"}
    return bool(sampling) and any(members.get(k, b"").startswith(b'"') for k in ("text", "inputs"))


def _is_responses(members: Mapping[str, bytes]) -> bool:
    given = members.get("input", b"")
    if given.startswith(b"["):
        inner = given[1:].lstrip()[:1]
        return inner in (b"{", b"]") and ("model" in members or "instructions" in members or b'"role"' in given[:4096])
    known = members.keys() & {"instructions", "previous_response_id", "tools", "max_output_tokens", "store", "text"}
    return bool(given.startswith(b'"') and (known or "model" in members) and "encoding_format" not in members)


def _of_messages(members: Mapping[str, bytes]) -> tuple[str, ...]:
    if _is_converse(members):
        return (CONVERSE,)
    messages = members["messages"]
    tools = members.get("tools")
    schema = tools is not None and _SCHEMA_TOOL.search(tools) is not None
    anthropic = schema or "system" in members or not _ANTHROPIC_ONLY.isdisjoint(members)
    chat = not _CHAT_ONLY.isdisjoint(members) or (tools is not None and not schema and b'"function"' in tools[:512])
    if not anthropic:
        chat = chat or bool(_CHAT_ROLE.search(messages, 0, _LOOK_BYTES)) or b'"tool_calls"' in messages[:_LOOK_BYTES]
    if anthropic and chat:
        return (ANTHROPIC, CHAT)
    if not anthropic and not chat:
        anthropic = bool(_ANTHROPIC_BLOCK.search(messages, 0, _LOOK_BYTES)) or _is_claude(members)
    return (ANTHROPIC,) if anthropic else (CHAT,)


def _is_claude(members: Mapping[str, bytes]) -> bool:
    return "max_tokens" in members and b"claude" in members.get("model", b"")


def _is_converse(members: Mapping[str, bytes]) -> bool:
    if "inferenceConfig" in members or "toolConfig" in members or "additionalModelRequestFields" in members:
        return True
    system = members.get("system")
    if system is None:
        return False
    return system.startswith(b"[") and bool(_TEXT_BLOCK.match(system, 1)) and not _TYPED_TEXT.search(system)
