"""The healthy twins: the same calls, and nothing to report."""

import base64
import glob
import json
import logging
import os
import random
import time
import uuid
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from pathlib import Path

import anthropic
import litellm
from jinja2 import Environment, FileSystemLoader
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from openai import OpenAI

client = OpenAI()
claude = anthropic.Anthropic()
env = Environment(loader=FileSystemLoader("prompts"))
log = logging.getLogger(__name__)


# 1 the clock goes into the last user turn
def complete(system_text, question):
    return client.responses.create(model="gpt-5.1", instructions=system_text, input=question)


def wrapped(question):
    stamp = datetime.now(timezone.utc).isoformat()
    return client.chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "system", "content": "You sort letters."}, {"role": "user", "content": f"{stamp}: {question}"}],
    )


# 2 the id goes into the log and a header
def opening(question):
    trace = uuid.uuid4().hex
    log.info("trace %s at %s", trace, datetime.now())
    return client.chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "system", "content": "You sort letters."}, {"role": "user", "content": question}],
        extra_headers={"x-trace": trace},
        metadata={"trace": trace},
    )


# 3 a fixed host name
HOST = "tray-1"


def collected(question):
    request = {"model": "claude-sonnet-5", "max_tokens": 100}
    request["system"] = "Host %s. You sort letters." % HOST
    request.update(messages=[{"role": "user", "content": question}])
    return claude.messages.create(**request)


# 4 seeded randomness
def chained(llm, question):
    shots = random.Random(7).sample(["a", "b", "c"], 2)
    return llm.invoke([SystemMessage("Examples: " + ", ".join(shots)), HumanMessage(f"{question} ({time.time()})")])


# 5 a template whose clock stands in the user message
def rendered(llm, question):
    prompt = ChatPromptTemplate.from_messages([("system", "You sort letters."), ("human", "{now} {question}")])
    return (prompt | llm).invoke({"now": datetime.now(), "question": question})


# 6 a clock behind a long text
MANUAL = (
    "Letters with a red stamp go to the first tray, letters with a blue stamp go to the second tray, and letters that "
    "have no stamp go back to the sender with a note that says what was missing and how it can be paid at the counter."
)


def behind(question):
    return client.chat.completions.create(
        model="gpt-5.1",
        messages=[{"role": "system", "content": MANUAL + f"\nNow: {datetime.now()}"}, {"role": "user", "content": question}],
    )


# 7 sorted files
def listed(question):
    names = "\n".join(sorted(p.name for p in Path("docs").glob("*.md")))
    return complete("Files:\n" + names, question)


# 8 sorted tools
def tooled(question, wanted):
    tools = []
    for name in sorted({"search", "fetch", *wanted}):
        tools.append({"type": "function", "function": {"name": name}})
    return client.chat.completions.create(model="gpt-5.1", tools=tools, messages=[{"role": "user", "content": question}])


# 9 sorted keys
def profiled(question, profile):
    return complete("Profile: " + json.dumps(profile, indent=1, sort_keys=True), question)


# 10 a literal mapping keeps its order
def literal(question):
    return complete("Trays: " + json.dumps({"red": 1, "blue": 2}), question)


# 11 a counter for statistics
class Desk:
    def __init__(self):
        self.calls = 0

    def ask(self, question):
        self.calls += 1
        log.info("call %d", self.calls)
        return litellm.completion(
            model="gpt-5.1",
            messages=[{"role": "system", "content": "You sort letters."}, {"role": "user", "content": question}],
        )


# 12 numbered examples
def numbered(question, examples):
    text = "Examples:\n"
    for i, example in enumerate(examples):
        text += f"{i}. {example}\n"
    return complete(text, question)


# 13 the marker stands ahead of the clock
def marked(question):
    return claude.messages.create(
        model="claude-sonnet-5",
        max_tokens=9,
        system=[
            {"type": "text", "text": "You sort letters.", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": f"Now: {datetime.now()}"},
        ],
        messages=[{"role": "user", "content": question}],
    )


# 14 the whole history is sent
def whole(history, question):
    history.append({"role": "user", "content": f"[{datetime.now()}] {question}"})
    last = history[-1]
    log.debug("last %s", last)
    return client.chat.completions.create(model="gpt-5.1", messages=history)


# 15 an id of a record that is no prompt
@dataclass
class Session:
    key: str = field(default_factory=lambda: str(uuid.uuid4()))

    def system_prompt(self):
        return "You sort letters."


# 16 settings stay the same in the loop
def looped(messages, tools):
    for _ in range(9):
        reply = client.chat.completions.create(model="gpt-5.1", messages=messages, tools=tools, tool_choice="auto")
        messages.append(reply.choices[0].message)


# 17 a file that is no prompt
def saved(question):
    reply = complete("You sort letters.", question)
    name = f"/tmp/{uuid.uuid4()}-{int(time.time())}.json"
    with open(name, "w") as out:
        json.dump({"at": datetime.now().isoformat(), "reply": reply}, out)
    return reply


# 18 a stable id and a fixed moment
def stable(question):
    key = uuid.uuid5(uuid.NAMESPACE_URL, "letters")
    then = datetime.fromtimestamp(1_700_000_000, tz=timezone.utc)
    return complete(f"Desk {key}, opened {then}. You sort letters.", question)


# 19 durations
def timed(question):
    start = time.perf_counter()
    reply = complete("You sort letters.", question)
    log.info("took %.1f s", time.perf_counter() - start)
    return reply


# 20 membership in a set has no order
def checked(question):
    allowed = set(os.listdir("docs"))
    if question in allowed:
        return complete("You sort letters.", question)
    return None


# 21 new ids for new calls, kept in the history
def answer(reply):
    return [{"id": call.id or f"call_{uuid.uuid4().hex}", "type": "function", "function": call.function} for call in reply.calls]


# 22 a prompt on the terminal
def shell_prompt():
    return f"{datetime.now():%H:%M} {os.getcwd()} > "


# 23 a tool list that is sorted later
def late(question, names):
    tools = [{"name": n} for n in set(names)]
    tools.sort(key=lambda t: t["name"])
    return claude.messages.create(model="claude-sonnet-5", max_tokens=9, tools=tools, messages=[{"role": "user", "content": question}])


# 24 cached tokens counted
def counted(reply):
    usage = reply.usage
    return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens + usage.output_tokens
