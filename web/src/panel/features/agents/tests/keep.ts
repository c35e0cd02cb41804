// A conversation of the playground as a test.
import { post, put, send } from "../../../api";
import type { Agent, Played } from "../types";
import { getTests } from "./run";

export type Line = { contact: true; text: string } | { contact: false; text: string; played: Played };

/** keepConversation adds a conversation to the first suite of an agent, or to a new one. It returns false if the suite could not be extended. */
export async function keepConversation(agent: Agent, said: Line[]): Promise<boolean> {
  const { suites } = await getTests(agent.id);
  const suite = suites[0];
  const source = withCase(suite?.source ?? "", caseOf(said, agent.language));
  const checked = await send("post", `/agents/${agent.id}/tests/check`, { body: { source } });
  if (checked.problems.length > 0 || checked.cases !== (suite?.cases ?? 0) + 1) return false;
  const body = { agent: agent.id, source };
  await (suite ? put(`/suites/${suite.id}`, body) : post("/suites", body));
  return true;
}

// JSON texts are texts in YAML too.
const quoted = (text: string): string => JSON.stringify(text);

/** caseOf is a conversation as a test, in YAML without indentation. */
export function caseOf(said: Line[], language: string): string[] {
  const lines = [`- name: ${quoted(nameOf(said))}`, `  language: ${language}`, "  turns:"];
  said.forEach((line, i) => {
    if (!line.contact) return;
    lines.push(`    - say: ${quoted(line.text)}`);
    const reply = said[i + 1];
    if (!reply || reply.contact) return;
    lines.push("      expect:", ...expectations(reply.text, reply.played).map((x) => "        " + x));
  });
  return lines;
}

function nameOf(said: Line[]): string {
  const first =
    said
      .find((x) => x.contact)
      ?.text.replace(/\s+/g, " ")
      .trim() ?? "";
  const now = new Date().toISOString().slice(0, 19).replace("T", " ");
  return [...first].slice(0, 60).join("") + " (" + now + ")";
}

/** expectations are what a reply was: its article, or else what it did, or else its words. */
function expectations(text: string, p: Played): string[] {
  const all: string[] = [];
  if (p.sources[0]) all.push(`article: ${quoted(p.sources[0].title)}`);
  if (p.handoff !== undefined) all.push("handoff: true");
  if (p.end) all.push("ends: true");
  if (p.unanswered) all.push("outcome: unanswered");
  if (p.asks && !p.asks.startsWith("-")) all.push(`asks: ${quoted(p.asks)}`);
  if (all.length === 0) all.push(text ? `text: ${quoted(text)}` : "handoff: false");
  return all;
}

/** withCase appends a test to a suite whose last field is its list of tests, indented as the list is. */
export function withCase(source: string, lines: string[]): string {
  if (!source.trim()) source = "name: playground\ncases:\n";
  const indent = /^cases:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*([ ]*)- /m.exec(source)?.[1] ?? "  ";
  return source.trimEnd() + "\n" + lines.map((l) => indent + l).join("\n") + "\n";
}
