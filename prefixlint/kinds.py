"""Know settings files: which program reads them, where prompt text lies in them, which files they refer to.

Pointers are RFC 6901 with ``*`` inside a token (one step of any name). Sources: the JSON Schemas of SchemaStore
(Claude Code, Gemini CLI, Codex, aider, GitHub Models; 2026-03) and the public documentation of the other programs.
A new kind is one entry here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from prefixlint.model import Json
from prefixlint.pointers import escape_token


@dataclass(frozen=True, slots=True)
class Kind:
    """Describe one kind of settings file.

    ``files`` are globs on the path (forward slashes); ``marks`` pointers of which one must exist when the path does
    not decide, ``needs`` those that must all exist. ``prompts`` lead to prompt text beyond what key names say;
    ``quiet`` to text that looks like a prompt by its key and is none. ``refers`` lead to names of prompt files,
    relative to the settings file (to the workspace for a file in a dotted folder). ``urls`` are base URLs.
    """

    name: str
    files: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    refers: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()


_COPILOT = "/github.copilot.chat.*nstructions"

KINDS = (
    Kind(
        "claude-code",
        files=(".claude/settings*.json", "managed-settings.json"),
        marks=(
            "/includeGitInstructions",
            "/outputStyle",
            "/hooks/SessionStart",
            "/hooks/UserPromptSubmit",
            "/hooks/*Tool*",
        ),
        prompts=("/claudeMd",),
        quiet=("/hooks/*/*/hooks/*/command",),
    ),
    Kind("gemini-cli", files=(".gemini/settings.json",), marks=("/context/fileName", "/context/includeDirectoryTree")),
    Kind(
        "vscode",
        files=(".vscode/settings.json", "*.code-workspace", "Code/User/settings.json"),
        marks=(_COPILOT, "/settings/github.copilot.chat.*", "/github.copilot.*"),
        prompts=(f"{_COPILOT}/*/text", f"/settings{_COPILOT}/*/text"),
        refers=(f"{_COPILOT}/*/file", f"/settings{_COPILOT}/*/file"),
    ),
    Kind("zed", files=("zed/settings.json", ".zed/settings.json"), marks=("/context_servers", "/agent/profiles")),
    Kind(
        "mcp-servers",
        files=(".mcp.json", "mcp.json", "claude_desktop_config.json", "mcp_settings.json", "cline_mcp_settings.json"),
        marks=("/mcpServers/*/command", "/mcpServers/*/url"),
    ),
    Kind(
        "opencode",
        files=("opencode.json", "opencode.jsonc"),
        marks=("/agent/*/prompt", "/mode/*/prompt"),
        prompts=("/command/*/template", "/agent/*/description"),
        refers=("/instructions/*", "/agent/*/prompt", "/mode/*/prompt"),
    ),
    Kind(
        "continue",
        files=("continue/config.yaml", ".continue/config.*", ".continuerc.json"),
        marks=("/models/*/chatOptions", "/models/*/cacheBehavior", "/models/*/roles"),
        prompts=(
            "/models/*/chatOptions/base*Message",
            "/models/*/systemMessage",
            "/systemMessage",
            "/rules/*",
            "/rules/*/rule",
            "/prompts/*/prompt",
            "/customCommands/*/prompt",
        ),
        refers=("/rules/*", "/prompts/*"),
        urls=("/models/*/apiBase",),
    ),
    Kind(
        "aider", files=(".aider.conf.yml", ".aider.conf.yaml"), marks=("/cache-prompts",), refers=("/read", "/read/*")
    ),
    Kind(
        "aider-models",
        files=(".aider.model.settings.yml",),
        marks=("/*/edit_format",),
        prompts=("/*/system_prompt_prefix",),
    ),
    Kind(
        "open-webui",
        marks=("/*/base_model_id", "/*/params/system", "/*/info/params/system"),
        prompts=("/*/params/system", "/*/info/params/system"),
        quiet=("/*/meta/suggestion_prompts", "/*/info/meta/suggestion_prompts"),
    ),
    Kind(
        "librechat",
        files=("librechat.yaml", "librechat.yml"),
        marks=("/modelSpecs/list/*/preset",),
        prompts=("/modelSpecs/list/*/preset/promptPrefix", "/mcpServers/*/serverInstructions"),
        urls=("/endpoints/custom/*/baseURL",),
    ),
    Kind(
        "langchain",
        files=("*.lc.json",),
        marks=("/_type", "/lc"),
        prompts=(
            "/template",
            "/prefix",
            "/suffix",
            "/example_prompt/template",
            "/kwargs/template",
            "/kwargs/messages/*/kwargs/prompt/kwargs/template",
        ),
        refers=("/template_path", "/prefix_path", "/suffix_path"),
    ),
    Kind(
        "promptfoo",
        files=("promptfooconfig*.yaml", "promptfooconfig*.yml", "promptfooconfig*.json"),
        needs=("/prompts", "/providers"),
        prompts=("/prompts/*", "/prompts/*/raw", "/scenarios/*/config/*/prompts/*"),
        quiet=("/tests", "/defaultTest", "/scenarios"),
        refers=("/prompts/*", "/prompts/*/id", "/providers/*/config/tools"),
    ),
    Kind(
        "github-models",
        files=("*.prompt.yml", "*.prompt.yaml"),
        needs=("/messages", "/modelParameters"),
        quiet=("/testData", "/evaluators"),
    ),
    Kind("openai-assistant", marks=(), needs=("/instructions", "/object"), prompts=("/description",)),
    Kind("tokenizer-config", files=("tokenizer_config.json", "chat_template.json"), marks=("/chat_template",)),
    Kind("litellm", marks=("/model_list/*/litellm_params",), urls=("/model_list/*/litellm_params/api_base",)),
    Kind(
        "codex",
        files=(".codex/config.toml", "codex/config.toml"),
        marks=(
            "/model_providers",
            "/model_provider",
            "/model_instructions_file",
            "/developer_instructions",
            "/sandbox_mode",
        ),
        prompts=("/developer_instructions", "/instructions", "/profiles/*/developer_instructions", "/compact_prompt"),
        refers=(
            "/model_instructions_file",
            "/experimental_instructions_file",
            "/experimental_compact_prompt_file",
            "/profiles/*/model_instructions_file",
        ),
        urls=("/model_providers/*/base_url",),
    ),
    Kind(
        "vllm-serve",
        marks=("/enable-prefix-caching", "/enable_prefix_caching", "/prefix-caching-hash-algo"),
        refers=("/chat-template",),
    ),
    Kind(
        "generic-config",
        marks=(
            "/prefix_cache/chunk_size",
            "/prefix_cache/probe_heads",
            "/model/max_model_len",
            "/prefix_cache/eviction_policy",
        ),
        urls=("/server/api_base",),
    ),
    Kind(
        "generic-settings",
        marks=("/prefix_cache", "/api_key_env", "/default_model"),
        refers=("/prefix_cache/shared_prefix_file",),
        urls=("/api_base",),
    ),
)

UNKNOWN = Kind("unknown")


def detect(path: str, value: Json) -> Kind:
    """Name the kind of a settings file, by its path first, then by what is in it."""
    posix = "/" + path.replace("\\", "/")
    named = next((k for k in KINDS if any(_named(posix, glob) for glob in k.files)), None)
    if named is not None:
        return named
    return next((k for k in KINDS if _claims(k, path, value)), UNKNOWN)


def by_name(path: str) -> Kind | None:
    """Name the kind that the path alone decides."""
    posix = "/" + path.replace("\\", "/")
    return next((k for k in KINDS if any(_named(posix, glob) for glob in k.files)), None)


def _named(posix: str, glob: str) -> bool:
    return fnmatchcase(posix, f"*/{glob}")


def _claims(kind: Kind, path: str, value: Json) -> bool:
    if kind.name == "generic-config" and not path.endswith(".toml"):
        return False
    if kind.name == "generic-settings" and path.endswith(".toml"):
        return False
    if kind.name == "generic-config" and isinstance(value, dict) and {"server", "model"} <= value.keys():
        return True
    if kind.needs:
        return all(any(True for _ in select(value, p)) for p in kind.needs)
    return any(any(True for _ in select(value, p)) for p in kind.marks)


def select(value: Json, pattern: str) -> Iterator[tuple[str, Json]]:
    """Yield (pointer, value) of everything that a pointer pattern leads to.

    >>> list(select({"a": [{"x": 1}, {"x": 2}]}, "/a/*/x"))
    [('/a/0/x', 1), ('/a/1/x', 2)]
    """
    found = [("", value)]
    for token in pattern.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        found = [step for pointer, below in found for step in _steps(pointer, below, token)]
    yield from found


def _steps(pointer: str, value: Json, token: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping):
        if "*" not in token:
            if token in value:
                yield f"{pointer}/{escape_token(token)}", value[token]
            return
        for key, below in value.items():
            if token == "*" or fnmatchcase(str(key), token):
                yield f"{pointer}/{escape_token(str(key))}", below
    elif isinstance(value, list):
        for index, below in enumerate(value):
            if token in ("*", str(index)):
                yield f"{pointer}/{index}", below
