"""Names that say what they hold: which variables, functions, keys and calls belong to a prompt."""

from __future__ import annotations

import re
from functools import lru_cache

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=20000)
def snake(name: str) -> str:
    """Spell ``systemPrompt``, ``SystemPrompt`` and ``SYSTEM_PROMPT`` alike."""
    return _HUMP.sub("_", name).lower().strip("_")


_WHO = r"(?:system|sys|developer|dev|agent|assistant|base|meta|master|default|core|initial|main|bot|persona)"
_SYSTEM = re.compile(
    rf"^(?:.*_)?(?:{_WHO}_?(?:prompt|instructions?|preamble)s?|(?:system|sys|developer)_?(?:message|msg|text))"
    r"(?:_(?:text|content|str|string|parts?|blocks?|template|header|lines?|prefix))?$"
    r"|^(?:instructions|preamble|custom_instructions|backstory|systemprompt|sysprompt|prompt_(?:header|"
    r"prefix|preamble|head))$"
)
_NOT_PROMPT = re.compile(
    r"(?:^|_)(?:user|human|input|shell|cli|password|passphrase|confirm|query|question|command|cmd|negative|image|"
    r"video|audio|console|terminal|line|readline|interactive|menu|login|repl|token|tokens|last|hash|id|key|"
    r"permission|approval|choice|selection|yes|no|continue|edit|message)_prompt|(?:^|_)prompt_(?:for|user|"
    r"yes|until|confirm)"
)
_PROMPT = re.compile(r"^(?:.+_)prompt(?:_(?:text|str|string|template))?$")
_PROMPT_CALL = re.compile(r"^(?:.+_)?prompt(?:_(?:text|str|string|template|header|prefix))?$|^prompt_for_model$")
_VERB = re.compile(
    r"^(?:get|build|make|create|render|compose|generate|format|assemble|prepare|construct|load|write|new|to|as|_)+_"
)
_TOOLS = re.compile(
    r"^(?:.*_)?(?:tools|toolset|tool_?(?:list|defs?|definitions?|specs?|schemas?|params?|configs?|manifest|"
    r"declarations?|descriptions?|infos?)|function_?(?:declarations|definitions|schemas|defs|specs)|functions_schema)$"
)
_NOT_TOOLS = re.compile(
    r"(?:^|_)(?:used|called|num|count|max|has|is|enable|disable|missing|unknown|failed|handle|execute|run|call|invoke)_"
)
_TOOL_TYPE = re.compile(
    r"^[&*]?(?:(?:\w+[.:]+)*(?:Promise|Task|ValueTask|Result|Option|Optional|Arc|Rc|Box|Awaitable|Mono)\s*[<\[]\s*)*"
    r"(?:\[\]\*?|\[|(?:\w+[.:]+)*(?:Vec|List|IList|IReadOnlyList|IEnumerable|ICollection|ArrayList|MutableList|Array|"
    r"ReadonlyArray|Sequence|Iterable|Iterator|list|tuple|Collection|Stream|Flux|AsyncIterator)\s*[<\[])\s*"
    r"(?:[&*]|dyn |\w+[.:]+)*[A-Za-z]*?(?:Tool|FunctionDeclaration|FunctionDefinition)"
    r"(?:s|Def|Definition|Spec|Param|Schema|Info|Descriptor|Declaration|UnionParam|Union|Config|"
    r"Description)*(?![A-Za-z0-9_])"
    r"|^\w*?Tool(?:Def|Definition|Spec|Param|Schema)?\[\]"
)
_HISTORY = re.compile(
    r"^(?:(?:chat|message|messages|conversation|dialog|dialogue|session|full|agent|prior|past|previous|all|"
    r"llm|api|request)_)?"
    r"(?:messages|msgs|history|conversation|transcript|turns|contents|dialogue)(?:_(?:history|list|log))?$|"
    r"^chat_log$|^memory_messages$"
)

SYSTEM_KEYS = frozenset(
    "system_prompt system_instruction system_instructions system_message system_msg sys_prompt developer_message "
    "instructions preamble preamble_override backstory system_prompt_template base_instructions developer_prompt "
    "system_instruction_text custom_instructions append_system_prompt agent_instructions".split()
)
WEAK_SYSTEM_KEYS = frozenset("system developer persona goal role".split())
MESSAGE_KEYS = frozenset("messages contents history chat_history input input_messages conversation".split())
TOOL_KEYS = frozenset("tools functions tool_config function_declarations tool_definitions tool_specs toolset".split())
PROMPT_KEYS = frozenset("prompt prompts inputs template".split())
SYSTEM_ROLES = frozenset("system developer".split())


@lru_cache(maxsize=20000)
def is_system(name: str) -> bool:
    """Tell whether a variable's name says that it holds a system prompt."""
    spelled = snake(name)
    return bool(_SYSTEM.match(spelled)) and not _NOT_PROMPT.search(spelled)


@lru_cache(maxsize=20000)
def is_prompt(name: str) -> bool:
    """Tell whether a variable's name says that it holds a whole prompt (``planner_prompt``, not ``user_prompt``)."""
    spelled = snake(name)
    return bool(_PROMPT.match(spelled)) and not _NOT_PROMPT.search(spelled)


@lru_cache(maxsize=20000)
def builds(name: str) -> str:
    """Return what a function of this name builds: system, prompt, tools, messages, or "" for anything else."""
    spelled = snake(name)
    bare = _VERB.sub("", spelled)
    if _NOT_PROMPT.search(spelled):
        return ""
    if is_system(bare) or is_system(spelled):
        return "system"
    if _PROMPT_CALL.match(bare) and spelled != "prompt":
        return "prompt"
    if is_tools(bare) and not _NOT_TOOLS.search(spelled):
        return "tools"
    if _HISTORY.match(bare) and bare != spelled and not spelled.startswith(("format", "load", "write", "as_")):
        return "messages"
    return ""


@lru_cache(maxsize=20000)
def is_tools(name: str) -> bool:
    """Tell whether a name says that it holds tool definitions."""
    spelled = snake(name)
    return bool(_TOOLS.match(spelled)) and not _NOT_TOOLS.search(spelled)


@lru_cache(maxsize=20000)
def is_tool_type(text: str) -> bool:
    """Tell whether a type text names tool definitions (``[]Tool``, ``Vec<ToolSpec>``)."""
    return bool(_TOOL_TYPE.search(text))


@lru_cache(maxsize=20000)
def is_history(name: str) -> bool:
    """Tell whether a name says that it holds the messages of a conversation."""
    return bool(_HISTORY.match(snake(name)))


# What a file must contain before names alone count: an SDK, a role, or talk about a model. Searched in lower case.
EVIDENCE = re.compile(
    rb"openai|anthropic|litellm|langchain|langgraph|llama_?index|gemini|genai|generativeai|mistralai|"
    rb"cohere|bedrock|dspy|"
    rb"haystack\.|pydantic_ai|crewai|autogen[_.\s]|semantic_?kernel|instructor\b|vllm|sglang|chat_template|\bllms?\b|"
    rb"\bgpt-?\d|claude|system_?prompts?|system prompt|systeminstruction|chat_?completions?|[\"']assistant[\"']|"
    rb"you are (?:a|an|the)\b|tool_?calls?\b|[\"']role[\"']|\brole:|prompt_?caching|[\"']ai[\"']|@ai-sdk|"
    rb"language ?model|"
    rb"systemmessage|_prompt\b|\bprompt_|[a-z]prompt\b|(?<!user.)\bagents?\b"
)
_STEMS = (
    *b"openai anthropic litellm langchain langgraph llama gemini genai generativeai mistral cohere".split(),
    *b"bedrock dspy haystack pydantic_ai crewai autogen semantic instructor vllm sglang chat_ llm gpt claude".split(),
    *b"system assistant tool role prompt 'ai' \"ai\" ai-sdk language agent chatcompletion".split(),
    *b"messages model: call_id callid".split(),
    *(b"instructions", b"you are ", b"language model"),
)
_ALSO = re.compile(
    rb"call_?id|model: ?[{$%\\#]|\btool_?(?:def|spec)|\[\]tool\b|\btools?\b[^\n]{0,30}\bmap\b|<(?:\w+, ?)?tool\w*>"
)


def has_evidence(data: bytes) -> bool:
    """Tell whether a file has to do with language models, so that names in it count."""
    return bool(EVIDENCE.search(data.lower()))


def is_relevant(data: bytes) -> bool:
    """Tell whether a file is worth following: plain substring tests first, most files end there."""
    low = data.lower()
    if not any(stem in low for stem in _STEMS):
        return False
    if EVIDENCE.search(low) or _ALSO.search(low):
        return True
    return b"messages" in low and b"model" in low
