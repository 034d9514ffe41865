"""Put moved text where it costs nothing: at the end of the newest turn, in a named tag, and leave it there for good."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prefixlint.canon.agree import TALK, digest, without_marks
from prefixlint.model import Json

TAG = "context"
USER = frozenset(("user", "human"))
ASSISTANT = frozenset(("assistant", "model"))


@dataclass(slots=True)
class Told:
    """Hold what the conversation up to one request has been told: texts by message, and the last value of each slot."""

    keys: tuple[bytes, ...]
    appended: dict[int, str] = field(default_factory=dict)
    inserted: dict[int, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    session: str = ""
    continued: int = 0


@dataclass(slots=True)
class Ledger:
    """Follow conversations through a log: what was appended to a turn stays on it in every later request."""

    known: dict[bytes, list[Told]] = field(default_factory=dict)

    def place(
        self, body: dict[str, Json], values: dict[str, str], seen: dict[str, str], session: str = ""
    ) -> dict[str, Json]:
        """Return the body with its moved values told, those anew that its conversation was not told before.

        ``values`` maps a slot to its text in this request; ``seen`` are values that the conversation shows anyway.
        """
        key = next((k for k in TALK if isinstance(body.get(k), list)), "")
        if not key:
            return body
        messages = body[key]
        keys = tuple(digest(without_marks(m)) for m in messages)
        told = self._continue(keys, values, seen, session)
        fresh = [text for slot, text in values.items() if text and told.values.get(slot) != text]
        told.values.update(values)
        if fresh:
            self._append(told, messages, merged(fresh))
        self.known.setdefault(_chain(keys), []).append(told)
        return {**body, key: written(messages, told, key)} if told.appended or told.inserted else body

    def _continue(self, keys: tuple[bytes, ...], values: dict[str, str], seen: dict[str, str], session: str) -> Told:
        """Find the longest earlier conversation that this one goes on from.

        Of several equal ones it is that of the same session, else the one that shares most values and was not gone on
        from before: two users who said the same must not get each other's names.
        """
        for size in range(len(keys) - 1, 0, -1):
            parents = self.known.get(_chain(keys[:size]), ())
            if parents:
                best = max(
                    enumerate(parents),
                    key=lambda p: (
                        p[1].session == session,
                        sum(p[1].values.get(slot) == text for slot, text in values.items()),
                        -p[1].continued,
                        p[0],
                    ),
                )[1]
                best.continued += 1
                return Told(keys, dict(best.appended), dict(best.inserted), {**seen, **best.values}, session)
        return Told(keys, values=dict(seen), session=session)

    def _append(self, told: Told, messages: list[Json], text: str) -> None:
        last = len(messages) - 1
        while last > 0 and _role(messages[last]) in ASSISTANT and not _is_call(messages[last]):
            last -= 1
        target = told.appended if _role(messages[last]) in USER else told.inserted
        target[last] = f"{target[last]}\n{text}" if last in target else text


def _chain(keys: tuple[bytes, ...]) -> bytes:
    return b"".join(keys)


def _role(message: Json) -> str:
    return str(message.get("role", "")) if isinstance(message, dict) else ""


def _is_call(message: Json) -> bool:
    return isinstance(message, dict) and (bool(message.get("tool_calls")) or message.get("type") == "function_call")


def tagged(text: str) -> str:
    """Wrap moved text in its tag.

    >>> tagged("It is 5.")
    '<context>\\nIt is 5.\\n</context>'
    """
    return f"<{TAG}>\n{text}\n</{TAG}>"


def merged(texts: list[str]) -> str:
    """Join texts; neighbours in the same element share it.

    >>> merged(["<env>\\na\\n</env>", "<env>\\nb\\n</env>", "c"])
    '<env>\\na\\nb\\n</env>\\nc'
    """
    joined = "\n".join(texts)
    return re.sub(r"\n</([\w.-]+)>\n<\1>\n", "\n", joined)


def written(messages: list[Json], told: Told, key: str) -> list[Json]:
    """Return the messages with everything that their conversation was told."""
    found: list[Json] = []
    for i, message in enumerate(messages):
        found.append(with_text(message, tagged(told.appended[i])) if i in told.appended else message)
        if i in told.inserted:
            found.append(user_message(tagged(told.inserted[i]), key))
    return found


def user_message(text: str, key: str) -> Json:
    """Make a user turn in the form of the API that has its conversation under ``key``."""
    if key == "contents":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}


def with_text(message: Json, text: str) -> Json:
    """Append text to a turn: to a string, or as one more part."""
    place = "parts" if isinstance(message.get("parts"), list) else "content"
    content = message.get(place)
    if isinstance(content, str):
        return {**message, place: f"{content}\n\n{text}" if content else text}
    if not isinstance(content, list):
        return {**message, place: text}
    kinds = {str(p.get("type")) for p in content if isinstance(p, dict)}
    if place == "parts" or kinds == {"None"}:
        return {**message, place: [*content, {"text": text}]}
    kind = "input_text" if "input_text" in kinds else "text"
    return {**message, place: [*content, {"type": kind, "text": text}]}
