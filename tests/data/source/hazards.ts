// Twenty ways to break a prompt cache; each line that starts one names its rule.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { SystemMessage, HumanMessage } from "@langchain/core/messages";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { generateText, streamText } from "ai";
import { openai as provider } from "@ai-sdk/openai";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { execSync } from "child_process";
import { nanoid } from "nanoid";
import { v4 as uuidv4 } from "uuid";
import OpenAI from "openai";

const client = new OpenAI();
const claude = new Anthropic();
const RULES = "You sort letters.";

// 1 a clock in the system message
export async function clocked(question: string) {
  return client.chat.completions.create({
    model: "gpt-5.1",
    messages: [
      { role: "system", content: `${RULES} Now: ${new Date().toISOString()}` }, // hazard: timestamp
      { role: "user", content: question },
    ],
  });
}

// 2 a wrapper that takes the prompt
async function complete(system: string, question: string) {
  return claude.messages.create({ model: "claude-sonnet-5", max_tokens: 9, system, messages: [{ role: "user", content: question }] });
}

export const wrapped = (question: string) => complete("Ticket " + randomUUID() + ". " + RULES, question); // hazard: uuid

// 3 messages built by push
function opening(): Message[] {
  const messages: Message[] = [];
  messages.push({ role: "system", content: `Host ${os.hostname()}. ${RULES}` }); // hazard: user-or-host
  return messages;
}

export async function pushed(question: string) {
  const messages = opening();
  messages.push({ role: "user", content: question });
  return client.chat.completions.create({ model: "gpt-5.1", messages });
}

// 4 the Vercel SDK
export async function vercel(question: string) {
  const seed = Math.random(); // hazard: random-id
  return generateText({ model: provider("gpt-5.1"), system: `Seed ${seed}. ${RULES}`, prompt: question });
}

// 5 Gemini
export async function gemini(question: string) {
  const ai = new GoogleGenAI({});
  return ai.models.generateContent({
    model: "gemini-3",
    contents: question,
    config: { systemInstruction: `Folder ${process.cwd()}. ${RULES}` }, // hazard: cwd-or-env
  });
}

// 6 LangChain messages
export async function chained(llm: any, question: string) {
  return llm.invoke([new SystemMessage(`Run ${nanoid()}. ${RULES}`), new HumanMessage(question)]); // hazard: random-id
}

// 7 files in the order of the file system
export async function listed(question: string) {
  const names = fs.readdirSync("docs").join("\n"); // hazard: list-order
  return complete(`Files:\n${names}`, question);
}

// 8 a counter kept by the object
export class Desk {
  private turn = 0;
  constructor(private readonly llm: OpenAI) {}

  async ask(question: string) {
    this.turn++;
    return this.llm.responses.create({
      model: "gpt-5.1",
      instructions: `Turn ${this.turn}. ${RULES}`, // hazard: counter
      input: question,
    });
  }
}

// 9 the state of the repository
export async function repo(question: string) {
  const status = execSync("git status --short").toString(); // hazard: git-status
  return complete("Changes:\n" + status + RULES, question);
}

// 10 a clock ahead of a cache marker, though behind a long text
const MANUAL = "Letters with a red stamp go to the first tray, letters with a blue stamp go to the second tray.".repeat(40);

export async function marked(question: string) {
  return claude.messages.create({
    model: "claude-sonnet-5",
    max_tokens: 9,
    system: [
      {
        type: "text",
        text: MANUAL + new Date().toString(), // hazard: timestamp
        cache_control: { type: "ephemeral" },
      },
    ],
    messages: [{ role: "user", content: question }],
  });
}

// 11 the history is cut at the front
export async function windowed(history: Message[], question: string) {
  history.push({ role: "user", content: question });
  return client.chat.completions.create({ model: "gpt-5.1", messages: history.slice(-12) }); // hazard: sliding-window
}

// 12 a raw body
export async function raw(question: string) {
  const body = {
    model: "m",
    messages: [
      { role: "system", content: `Session ${uuidv4()}. ${RULES}` }, // hazard: uuid
      { role: "user", content: question },
    ],
  };
  return fetch("http://localhost:8000/v1/chat/completions", { method: "POST", body: JSON.stringify(body) });
}

// 13 a template with a clock
export async function templated(llm: any, question: string) {
  const prompt = ChatPromptTemplate.fromMessages([
    ["system", "Now: {now}. You sort letters."],
    ["human", "{question}"],
  ]);
  const filled = await prompt.formatMessages({ now: new Date().toLocaleString(), question }); // hazard: timestamp
  return llm.invoke(filled);
}

// 14 the tool choice flips in the loop
export async function looped(messages: Message[], tools: Tool[]) {
  for (let step = 0; step < 9; step++) {
    const reply = await client.chat.completions.create({
      model: "gpt-5.1",
      messages,
      tools,
      tool_choice: step === 0 ? "required" : "auto", // hazard: param-change
    });
    messages.push(reply.choices[0].message);
  }
}

// 15 tools come and go between the calls
export async function growing(messages: Message[], tools: Tool[], more: Tool[]) {
  while (true) {
    const reply = await claude.messages.create({ model: "claude-sonnet-5", max_tokens: 9, messages, tools });
    tools.push(...more); // hazard: tool-set-change
    if (!reply) break;
  }
}

// 16 a function whose name says what it builds
export function buildSystemPrompt(user: User): string {
  return [`Time: ${Date.now()}`, RULES].join("\n"); // hazard: epoch
}

// 17 a temporary folder
export async function worker(question: string) {
  const folder = fs.mkdtempSync(path.join("work", "run-")); // hazard: temp-path
  return streamText({ model: provider("gpt-5.1"), system: `Write to ${folder}. ${RULES}`, messages: [{ role: "user", content: question }] });
}

// 18 a constant of the module
export const SYSTEM_PROMPT = `Started ${new Date()}. ${RULES}`; // hazard: timestamp

// 19 the system message is rebuilt for every turn
export async function rebuilt(messages: Message[], memory: Memory) {
  while (messages.length < 90) {
    messages[0] = { role: "system", content: memory.summary() }; // hazard: instructions-edited
    const reply = await client.chat.completions.create({ model: "gpt-5.1", messages });
    messages.push(reply.choices[0].message);
  }
}

// 20 ids of tool calls made up while a history is sent again
export function toMessages(history: Turn[]) {
  return history.map((turn) => ({
    role: "tool",
    tool_call_id: turn.id ?? `call_${nanoid()}`, // hazard: tool-call-id
    content: turn.text,
  }));
}

// 21 examples in a new order each time
export async function shuffled(question: string, shots: string[]) {
  const order = shots.map((text) => ({ text, key: Math.random() })); // hazard: random-id
  const picked = order.map((o) => `${o.key} ${o.text}`).join("\n");
  return complete(`Examples:\n${picked}`, question);
}

// 22 a clock in the description of a tool
export const tools = [
  {
    name: "search",
    description: `Search the tray. Today is ${new Date().toLocaleTimeString()}.`, // hazard: timestamp
    parameters: { type: "object", properties: {} },
  },
];
