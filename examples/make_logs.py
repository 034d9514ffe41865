"""Make the two bundled logs: agent.jsonl with four planted causes among healthy traffic, healthy.jsonl without any.

usage: python examples/make_logs.py FOLDER

Five agents of one invented company share a gateway that writes one line per request. Planted, one agent each:
a clock with seconds in the system prompt (support), tools out of an unordered registry (research), tool-call
arguments re-serialised with another key order when the history is rebuilt (ops), replies trimmed when they come back
as history (notes). The fifth agent (coder) and everything else is healthy: histories grow by appending, agents and
sessions interleave, user turns hold dates and ids of their own.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Body = dict[str, Any]
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
HOUSE_RULES = Path(__file__).with_name("house_rules.md").read_text(encoding="utf-8")

ROLES = {
    "coder": "You are the coding agent of Fernwood Logistics. You work in a checked-out repository.",
    "support": "You are the support agent of Fernwood Logistics. You answer customers about their parcels.",
    "research": "You are the research agent of Fernwood Logistics. You read internal documents and summarise them.",
    "ops": "You are the operations agent of Fernwood Logistics. You look after the delivery fleet.",
    "notes": "You are the meeting-notes agent of Fernwood Logistics. You turn transcripts into decisions.",
}
TOOLS = {
    "coder": (
        "read_file path:string start:integer",
        "write_file path:string text:string",
        "run_tests target:string",
        "search_code query:string limit:integer",
        "list_files folder:string",
    ),
    "support": (
        "find_parcel number:string",
        "refund order:string amount:number reason:string",
        "open_ticket title:string body:string priority:string",
        "customer_history customer:string",
    ),
    "research": (
        "search_docs query:string limit:integer",
        "read_doc id:string",
        "cite id:string page:integer",
        "list_collections owner:string",
        "compare_docs left:string right:string",
        "translate text:string language:string",
        "glossary term:string",
    ),
    "ops": (
        "vehicle_state plate:string",
        "reroute plate:string stop:string reason:string",
        "fuel_report depot:string days:integer",
        "page_driver plate:string message:string",
    ),
    "notes": ("read_transcript meeting:string", "save_decisions meeting:string items:string"),
}
ASKS = {
    "coder": (
        "The date filter drops the last day of the month, please find out why.",
        "Add a retry with backoff to the depot client.",
        "Rename Stop.eta to Stop.expected_at everywhere.",
        "Test run 7f3c2f0e-55b1-4c8e-9a63-0d5a6f0b8a11 failed, what broke?",
    ),
    "support": (
        "Where is parcel FW-20931?",
        "The box arrived wet, I want my money back.",
        "Can I change the address for order 55120 until 2026-03-04 18:00?",
        "Nobody was home, what now?",
    ),
    "research": (
        "What did we decide about cold-chain packaging?",
        "Compare the two carrier contracts.",
        "Which depots had more than 3 % late parcels?",
        "Summarise the winter report.",
    ),
    "ops": (
        "FW-KA 114 has stopped moving.",
        "Move the afternoon tour of FW-KA 207 to depot South.",
        "How much fuel did depot North burn last week?",
        "Tell the driver of FW-KA 098 about the closed bridge.",
    ),
    "notes": (
        "Write up the Monday stand-up.",
        "What was decided about the new scanner?",
        "List open questions of the pricing meeting.",
        "Who takes care of the depot audit?",
    ),
}
WORDS = (
    "the route parcel depot driver scan label morning van customer bridge window signed delay weather pallet "
    "address night shift gate queue report check moved kept late early list team door bell street corner"
).split()


def tool(agent: str, spec: str) -> Body:
    """Build one OpenAI tool definition from ``name argument:type ...``."""
    name, *arguments = spec.split()
    title = name.replace("_", " ")
    properties = {}
    for argument in arguments:
        key, kind = argument.split(":")
        properties[key] = {
            "type": kind,
            "description": f"The {key} to use for {title}, exactly as the {agent} desk writes it.",
        }
    function = {
        "name": name,
        "description": f"{title.capitalize()} in the systems of Fernwood Logistics. Returns a short plain text; "
        f"an empty answer means that nothing was found and the call may be repeated once.",
        "parameters": {"type": "object", "properties": properties, "required": list(properties)},
    }
    return {"type": "function", "function": function}


class Conversation:
    """One session of one agent; `turn` returns the bodies that its client sends until the user is answered."""

    def __init__(self, agent: str, number: int, rnd: random.Random, broken: bool) -> None:
        self.agent, self.rnd, self.broken = agent, rnd, broken
        self.id = f"{agent}-{number:02d}"
        self.tools = [tool(agent, spec) for spec in TOOLS[agent]]
        self.history: list[Body] = []

    def system(self, now: datetime) -> str:
        """Return the system prompt; the support agent's one holds the clock."""
        head = ROLES[self.agent]
        if self.broken and self.agent == "support":
            head += f"\nCurrent time: {now:%Y-%m-%d %H:%M:%S}"
        return f"{head}\n\n{HOUSE_RULES}"

    def body(self, now: datetime) -> Body:
        """Build what the client sends now, from what it remembers."""
        tools = list(self.tools)
        if self.broken and self.agent == "research":
            self.rnd.shuffle(tools)
        messages = [{"role": "system", "content": self.system(now)}, *self.remembered()]
        return {"model": "gpt-4.1-mini", "temperature": 0.2, "tools": tools, "messages": messages}

    def remembered(self) -> list[Body]:
        """Return the history as this client keeps it: all but its last two messages may have been rebuilt."""
        old = [self.rebuilt(m) for m in self.history[:-2]]
        return old + self.history[-2:]

    def rebuilt(self, message: Body) -> Body:
        """Rebuild a message as the two faulty clients do."""
        if self.broken and self.agent == "notes" and message["role"] == "assistant" and message.get("content"):
            return {**message, "content": message["content"].rstrip()}
        if self.broken and self.agent == "ops" and message.get("tool_calls"):
            return {**message, "tool_calls": [self.reserialised(c) for c in message["tool_calls"]]}
        return message

    def reserialised(self, call: Body) -> Body:
        """Write the arguments of a tool call again, with sorted keys."""
        arguments = json.dumps(json.loads(call["function"]["arguments"]), sort_keys=True)
        return {**call, "function": {**call["function"], "arguments": arguments}}

    def turn(self, now: datetime) -> list[tuple[datetime, Body, Body]]:
        """Play one user turn: a request, for each tool call one more, and the answers that came back."""
        self.history.append({"role": "user", "content": self.rnd.choice(ASKS[self.agent])})
        out = []
        for step in range(self.rnd.choice((1, 2, 2, 3))):
            answer = self.answer() if step or self.rnd.random() < 0.4 else self.call()
            out.append((now, self.body(now), answer))
            now += timedelta(seconds=self.rnd.randint(4, 19))
            self.history.append(answer)
            if not answer.get("tool_calls"):
                return out
            result = {
                "role": "tool",
                "tool_call_id": answer["tool_calls"][0]["id"],
                "content": self.prose(60),
            }
            self.history.append(result)
        final = {"role": "assistant", "content": self.prose(40)}
        out.append((now, self.body(now), final))
        self.history.append(final)
        return out

    def answer(self) -> Body:
        """Return a closing answer; models like to end with a line break."""
        return {"role": "assistant", "content": self.prose(40) + (" \n" if self.agent == "notes" else "")}

    def call(self) -> Body:
        """Return an answer that calls a tool."""
        function = self.rnd.choice(self.tools)["function"]
        keys = list(function["parameters"]["properties"])
        arguments = json.dumps({k: self.prose(3) for k in sorted(keys, reverse=True)})
        ident = f"call_{self.rnd.randrange(16**12):012x}"
        call = {
            "id": ident,
            "type": "function",
            "function": {"name": function["name"], "arguments": arguments},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def prose(self, words: int) -> str:
        """Return some words, as tool results and answers are made of here."""
        return " ".join(self.rnd.choices(WORDS, k=words)).capitalize() + "."


def write(path: Path, agents: dict[str, int], *, broken: bool, seed: int) -> None:
    """Play the given number of sessions for each agent, interleaved, and write one line per request."""
    rnd = random.Random(seed)
    sessions = [Conversation(a, i, rnd, broken) for a, n in agents.items() for i in range(n)]
    lines, now, last = [], START, {}
    for _ in range(7):
        rnd.shuffle(sessions)
        for session in sessions:
            now += timedelta(seconds=rnd.randint(5, 40))
            for at, body, answer in session.turn(now):
                lines.append(record(session, at, body, answer, last, len(lines)))
                now = max(now, at)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    print(f"{path}: {len(lines)} requests, {len(sessions)} sessions, {path.stat().st_size / 1e6:.1f} MB")


def record(session: Conversation, at: datetime, body: Body, answer: Body, last: dict[str, str], n: int) -> Body:
    """Wrap a body as the gateway logs it; cached tokens follow the host's 128-token steps, at 4 characters a token."""
    text = json.dumps([body["tools"], body["messages"]])
    same = 0
    old = last.get(session.id, "")
    while same < min(len(old), len(text)) and old[same] == text[same]:
        same += 1
    last[session.id] = text
    cached = same // 4 // 128 * 128 if same // 4 >= 1024 else 0
    usage = {
        "prompt_tokens": len(text) // 4,
        "completion_tokens": len(json.dumps(answer)) // 4,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    response = {"id": f"chatcmpl-{n:06d}", "choices": [{"index": 0, "message": answer}], "usage": usage}
    return {"ts": at.isoformat(), "session_id": session.id, "request": body, "response": response}


def main(folder: Path) -> None:
    """Write both logs."""
    write(
        folder / "agent.jsonl",
        {"coder": 6, "support": 4, "research": 3, "ops": 3, "notes": 3},
        broken=True,
        seed=7,
    )
    write(folder / "healthy.jsonl", {"coder": 2, "support": 2, "research": 2, "ops": 2}, broken=False, seed=8)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
