// The healthy twins: the same calls, and nothing to report.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { SystemMessage, HumanMessage } from "@langchain/core/messages";
import { generateText } from "ai";
import { openai as provider } from "@ai-sdk/openai";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import os from "node:os";
import OpenAI from "openai";

const client = new OpenAI();
const claude = new Anthropic();
const RULES = "You sort letters.";

// 1 the clock goes into the last user turn
export async function clocked(question: string) {
  return client.chat.completions.create({
    model: "gpt-5.1",
    messages: [
      { role: "system", content: RULES },
      { role: "user", content: `${new Date().toISOString()}: ${question}` },
    ],
  });
}

// 2 the id goes into a header and the log
async function complete(system: string, question: string) {
  const trace = randomUUID();
  console.log(`trace ${trace} at ${Date.now()}`);
  return claude.messages.create(
    { model: "claude-sonnet-5", max_tokens: 9, system, messages: [{ role: "user", content: question }] },
    { headers: { "x-trace": trace } },
  );
}

// 3 a host name in the log
export async function logged(question: string) {
  console.error(os.hostname(), process.pid);
  return complete(RULES, question);
}

// 4 metadata is no prompt
export async function vercel(question: string) {
  return generateText({
    model: provider("gpt-5.1"),
    system: RULES,
    prompt: question,
    experimental_telemetry: { isEnabled: true, functionId: randomUUID() },
  });
}

// 5 a fixed folder
export async function gemini(question: string) {
  const ai = new GoogleGenAI({});
  return ai.models.generateContent({ model: "gemini-3", contents: question, config: { systemInstruction: `Folder /work. ${RULES}` } });
}

// 6 a clock in the last message
export async function chained(llm: any, question: string) {
  return llm.invoke([new SystemMessage(RULES), new HumanMessage(`${Date.now()} ${question}`)]);
}

// 7 sorted files
export async function listed(question: string) {
  const names = fs.readdirSync("docs").sort().join("\n");
  return complete(`Files:\n${names}`, question);
}

// 8 a counter for statistics
export class Desk {
  private turn = 0;

  async ask(question: string) {
    this.turn++;
    console.debug("turn", this.turn);
    return client.responses.create({ model: "gpt-5.1", instructions: RULES, input: question });
  }
}

// 9 numbered examples
export async function numbered(question: string, examples: string[]) {
  let text = "Examples:\n";
  for (let i = 0; i < examples.length; i++) {
    text += `${i}. ${examples[i]}\n`;
  }
  return complete(text, question);
}

// 10 a marker ahead of the clock
export async function marked(question: string) {
  return claude.messages.create({
    model: "claude-sonnet-5",
    max_tokens: 9,
    system: [
      { type: "text", text: RULES, cache_control: { type: "ephemeral" } },
      { type: "text", text: `Now: ${new Date()}` },
    ],
    messages: [{ role: "user", content: question }],
  });
}

// 11 the whole history is sent
export async function whole(history: Message[], question: string) {
  history.push({ role: "user", content: `[${new Date().toISOString()}] ${question}` });
  const last = history.slice(-1)[0];
  console.log(last);
  return client.chat.completions.create({ model: "gpt-5.1", messages: history });
}

// 12 a map keeps its order
export async function mapped(question: string, trays: Map<string, string>) {
  const lines = [...trays.entries()].map(([name, text]) => `${name}: ${text}`);
  return complete(lines.join("\n"), question);
}

// 13 a moment that is given
export async function given(question: string, then: Date) {
  return complete(`Opened ${new Date(2026, 0, 1).toISOString()}. ${RULES}`, question);
}

// 14 settings stay the same in the loop
export async function looped(messages: Message[], tools: Tool[]) {
  for (let step = 0; step < 9; step++) {
    const reply = await client.chat.completions.create({ model: "gpt-5.1", messages, tools, tool_choice: "auto" });
    messages.push(reply.choices[0].message);
  }
}

// 15 a file that is no prompt
export async function saved(question: string) {
  const reply = await complete(RULES, question);
  fs.writeFileSync(`out/${randomUUID()}.json`, JSON.stringify({ at: Date.now(), reply }));
  return reply;
}

// 16 a clock behind a long text
const MANUAL =
  "Letters with a red stamp go to the first tray, letters with a blue stamp go to the second tray, and letters that " +
  "have no stamp go back to the sender with a note that says what was missing and how it can be paid at the counter.";

export async function behind(question: string) {
  return client.chat.completions.create({
    model: "gpt-5.1",
    messages: [
      { role: "system", content: `${MANUAL}\nNow: ${new Date().toISOString()}` },
      { role: "user", content: question },
    ],
  });
}

// 17 durations
export async function timed(question: string) {
  const start = performance.now();
  const reply = await complete(RULES, question);
  console.log(`took ${performance.now() - start} ms`);
  return reply;
}

// 18 a prompt on the terminal
export function shellPrompt(): string {
  return `${new Date().toLocaleTimeString()} ${process.cwd()} > `;
}

// 19 new ids for new calls, kept in the history
export function answer(reply: Reply) {
  return reply.calls.map((call) => ({ id: call.id ?? `call_${randomUUID()}`, type: "function", function: call.function }));
}

// 20 a title for the user interface
export function sessionTitle(): string {
  return `Session of ${new Date().toLocaleDateString()}`;
}

// 21 an array of fixed tools
export const tools = [{ name: "search", description: "Search the tray.", parameters: { type: "object", properties: {} } }];
