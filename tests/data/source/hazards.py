"""Twenty ways to break a prompt cache; each line that starts one names its rule."""

import asyncio
import base64
import glob
import io
import itertools
import json
import os
import platform
import random
import string
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from pathlib import Path

import anthropic
import boto3
import dspy
import litellm
from google import genai
from google.genai import types
from jinja2 import Environment, FileSystemLoader
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from openai import AsyncOpenAI, OpenAI
from pydantic_ai import Agent
from vllm import LLM

client = OpenAI()
claude = anthropic.Anthropic()
env = Environment(loader=FileSystemLoader("prompts"))


# 1 a wrapper that takes the prompt
def complete(system_text, question):
    return client.responses.create(model="gpt-5.1", instructions=system_text, input=question)


def wrapped(question):
    stamp = datetime.now(timezone.utc).isoformat()  # hazard: timestamp
    return complete(f"Clock: {stamp}\nYou sort letters.", question)


# 2 messages built by a helper
def opening():
    messages = []
    messages.append({"role": "system", "content": "Ticket " + uuid.uuid4().hex + ". You sort letters."})  # hazard: uuid
    return messages


def from_helper(question):
    messages = opening()
    messages.append({"role": "user", "content": question})
    return client.chat.completions.create(model="gpt-5.1", messages=messages)


# 3 keyword arguments collected in a mapping
def collected(question):
    request = {"model": "claude-sonnet-5", "max_tokens": 100}
    request["system"] = "Host %s. You sort letters." % platform.node()  # hazard: user-or-host
    request.update(messages=[{"role": "user", "content": question}])
    return claude.messages.create(**request)


# 4 LangChain messages
def chained(llm, question):
    return llm.invoke([SystemMessage(f"Seed {random.random()}. You sort letters."), HumanMessage(question)])  # hazard: random-id


# 5 a Jinja template with a clock in its context
def rendered(question):
    template = env.get_template("system.j2")
    text = template.render(now=datetime.now(), rules="short")  # hazard: timestamp
    return claude.messages.create(model="claude-sonnet-5", max_tokens=9, system=text, messages=[{"role": "user", "content": question}])


# 6 Gemini
def gemini(question):
    config = types.GenerateContentConfig(system_instruction=f"Folder {os.getcwd()}. You sort letters.")  # hazard: cwd-or-env
    return genai.Client().models.generate_content(model="gemini-3", contents=question, config=config)


# 7 files in the order of the file system
def listed(question):
    names = "\n".join(p.name for p in Path("docs").glob("*.md"))  # hazard: list-order
    return complete("Files:\n" + names, question)


# 8 a set of tools
def tooled(question, wanted):
    tools = []
    for name in {"search", "fetch", *wanted}:  # hazard: tool-order
        tools.append({"type": "function", "function": {"name": name}})
    return client.chat.completions.create(model="gpt-5.1", tools=tools, messages=[{"role": "user", "content": question}])


# 9 JSON in the order of insertion
def profiled(question, profile):
    return complete("Profile: " + json.dumps(profile, indent=1), question)  # hazard: key-order


# 10 a counter kept by the object
class Desk:
    def __init__(self):
        self.calls = 0

    def ask(self, question):
        self.calls += 1
        return litellm.completion(
            model="gpt-5.1",
            messages=[
                {"role": "system", "content": f"Call {self.calls}. You sort letters."},  # hazard: counter
                {"role": "user", "content": question},
            ],
        )


# 11 the state of the repository
def repo(question):
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout  # hazard: commit-hash
    return complete(f"Commit {head}. You sort letters.", question)


# 12 a clock ahead of a cache marker, though behind a long text
MANUAL = "Letters with a red stamp go to the first tray, letters with a blue stamp go to the second tray. " * 40


def marked(question):
    block = {"type": "text", "text": MANUAL + time.ctime(), "cache_control": {"type": "ephemeral"}}  # hazard: timestamp
    return claude.messages.create(model="claude-sonnet-5", max_tokens=9, system=[block], messages=[{"role": "user", "content": question}])


# 13 the history is cut at the front
def windowed(history, question):
    history.append({"role": "user", "content": question})
    return client.chat.completions.create(model="gpt-5.1", messages=[{"role": "system", "content": "Sort."}] + history[-12:])  # hazard: sliding-window


# 14 a default of a dataclass
@dataclass
class Session:
    key: str = field(default_factory=lambda: str(uuid.uuid4()))  # hazard: uuid

    def system_prompt(self):
        return f"Session {self.key}\nYou sort letters."


# 15 a decorated function of an agent
agent = Agent("openai:gpt-5.1")


@agent.system_prompt
def say_when():
    return f"It is {datetime.now():%H:%M} now."  # hazard: timestamp


# 16 the tool choice flips in the loop
def looped(messages, tools):
    for turn in range(9):
        reply = client.chat.completions.create(
            model="gpt-5.1",
            messages=messages,
            tools=tools,
            tool_choice="required" if turn == 0 else "auto",  # hazard: param-change
        )
        messages.append(reply.choices[0].message)


# 17 tools come and go between the calls
def shrinking(messages, tools):
    while True:
        reply = claude.messages.create(model="claude-sonnet-5", max_tokens=9, messages=messages, tools=tools)
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason == "tool_use":
            tools.pop()  # hazard: tool-set-change


# 18 Bedrock, a clock as seconds
def bedrock(question):
    runtime = boto3.client("bedrock-runtime")
    return runtime.converse(
        modelId="m",
        system=[{"text": f"Started {int(time.time())}. You sort letters."}],  # hazard: epoch
        messages=[{"role": "user", "content": [{"text": question}]}],
    )


# 19 examples in a new order each time
SHOTS = ["red -> 1", "blue -> 2", "none -> 3"]


def shuffled(question):
    shots = list(SHOTS)
    random.shuffle(shots)  # hazard: list-order
    return complete("Examples:\n" + "\n".join(shots), question)


# 20 the system message is rebuilt for every turn
def rebuilt(messages, memory):
    while True:
        messages[0] = {"role": "system", "content": memory.summary()}  # hazard: instructions-edited
        reply = client.chat.completions.create(model="gpt-5.1", messages=messages)
        messages.append(reply.choices[0].message)


# 21 ids of tool calls made up while a history is sent again
def to_messages(history):
    for turn in history:
        for call in turn.calls:
            yield {"role": "tool", "tool_call_id": call.id or uuid.uuid4().hex, "content": call.result}  # hazard: tool-call-id


# 22 a prompt template with a clock
def templated(llm, question):
    prompt = ChatPromptTemplate.from_messages([("system", "Now: {now}. You sort letters."), ("human", "{question}")])
    chain = prompt | llm
    return chain.invoke({"now": datetime.now(), "question": question})  # hazard: timestamp


# 23 a prompt for a local engine
def local(question):
    return LLM("m").generate(f"[{datetime.now()}] You sort letters by the colour of the stamp.\n{question}")  # hazard: timestamp


# 24 a temporary folder in the text for every worker
def worker(question):
    import tempfile

    folder = tempfile.mkdtemp()  # hazard: temp-path
    return complete(f"Write results to {folder}. You sort letters.", question)


# 25 images are encoded anew
def pictured(history):
    messages = []
    for turn in history:
        buffer = io.BytesIO()
        turn.image.save(buffer, format="JPEG")  # hazard: image-reencode
        url = "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
        messages.append({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]})
    return client.chat.completions.create(model="gpt-5.1", messages=messages)


# 26 the key of the cache
def routed(question):
    return client.responses.create(model="gpt-5.1", input=question, prompt_cache_key=str(uuid.uuid4()))  # hazard: routing-key


# 27 cached tokens left out
def claude_tokens(reply):
    return reply.usage.input_tokens + reply.usage.output_tokens  # hazard: cached-tokens-dropped
