"""Reading a conversation with the help of another one gives what reading it alone gives."""

from __future__ import annotations

import json
import random

from prefixlint.diff import split
from prefixlint.diff.sequence import SequenceReader, last_turn
from prefixlint.diff.store import Store
from prefixlint.render import anthropic, openai_chat, raw


def dump(rnd: random.Random, messages: list[object]) -> bytes:
    """Write an array in one of the usual styles."""
    indent = rnd.choice([None, None, 1])
    separators = (",", ":") if rnd.random() < 0.5 and indent is None else None
    return json.dumps(messages, ensure_ascii=rnd.random() < 0.5, indent=indent, separators=separators).encode()


def changed(rnd: random.Random, messages: list[object]) -> list[object]:
    """Change, drop or add a message somewhere, and go on."""
    after = list(messages)
    at = rnd.randrange(len(after) + 1)
    new = {"role": "user", "content": f'new {rnd.random()} é \\ " ],' + "x" * rnd.choice([0, 5, 6_000])}
    after[at : at + rnd.choice([0, 1, 1])] = [new] if rnd.random() < 0.8 else []
    return after + [{"role": "assistant", "content": f"more {rnd.random()}"}] * rnd.choice([0, 1, 2])


def test_reading_with_another_conversation_in_mind() -> None:
    rnd = random.Random(1)
    store = Store()
    reader = SequenceReader(store)
    for _ in range(300):
        words = [rnd.choice(["a", "b" * 400, "[{}],", "é"]) for _ in range(rnd.randint(1, 9))]
        before = [{"role": rnd.choice(["user", "assistant"]), "content": w, "n": rnd.choice([1, 12])} for w in words]
        seed = rnd.random()
        first, second = (dump(random.Random(seed), m) for m in (before, changed(rnd, before)))  # type: ignore[arg-type]
        _, base = reader.talk(openai_chat, first, None)
        alone, plain = reader.talk(openai_chat, second, None)
        helped, growing = reader.talk(openai_chat, second, base)
        assert helped == alone
        assert plain is not None and growing is not None
        assert list(growing.ends) == list(plain.ends)
    store.close()


def test_markers_move_with_their_messages() -> None:
    store = Store()
    reader = SequenceReader(store)
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    tail = [{"role": "user", "content": [{"type": "text", "text": "t" * 100} | mark]}] * 2
    first, second = (json.dumps([{"role": "user", "content": c}, *tail]).encode() for c in ("short", "a longer one"))
    _, base = reader.talk(anthropic, first, None)
    assert reader.talk(anthropic, second, base)[0].marks == ((1, "/content/0", "1h"), (2, "/content/0", "1h"))
    store.close()


def test_arrays_that_the_fast_parser_refuses() -> None:
    deep = b"[" * 3_000 + b"]" * 3_000
    assert split.elements(b'["\\ud800", {"a": "]"}, 1.50]') == [b'"\\ud800"', b'{"a": "]"}', b"1.50"]
    assert split.elements(b"[" + deep + b", 2]") == [deep, b"2"]
    assert split.member(b'{"a": "\\udfff", "parts": [1, 2]}', ("parts",)) == b"[1, 2]"


def test_equal_content_is_one_element_whatever_its_spelling() -> None:
    store = Store()
    part = openai_chat.PARTS[-1]
    spellings = (
        b'{"role": "user", "content": "caf\\u00e9"}',
        '{"content":"café","role":"user"}'.encode(),
        b'{"role": "user", "content": "caf\\u00e9", "cache_control": {"type": "ephemeral"}, "name": null}',
    )
    assert len({store.intern(openai_chat, part, spelling) for spelling in spellings}) == 1
    assert store.intern(openai_chat, part, b'{"role": "user", "content": 1.0}') != store.intern(
        openai_chat, part, b'{"role": "user", "content": 1}'
    )
    store.close()


def test_the_last_turn() -> None:
    assert last_turn(["system", "user"]) == 1
    assert last_turn(["user", "assistant", "tool", "user"]) == 2
    assert last_turn(["system", "user", "assistant"]) == 1
    assert last_turn([]) == 0


def test_raw_prompts_are_cut_where_turns_begin() -> None:
    text = "<|im_start|>system\nUser: no turn<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
    assert raw.split(text) == [0, text.index("<|im_start|>user")]
    assert raw.split("Be kind.\nUser: hi\nAssistant:") == [0, 9, 18]
    assert raw.split("<s>[INST] hi [/INST] yes") == [0, 3, 13]
    assert [raw.role_of(t) for t in ("<|im_start|>user\n", "[/INST] yes", "Assistant: x", "plain")] == [
        "user",
        "assistant",
        "assistant",
        "system",
    ]
