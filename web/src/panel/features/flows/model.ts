// A flow's steps as a tree: a step is named by its path, such as steps.2.then.0, a list of steps by that of its owner, such as steps.2.then.
import type { ReactNode } from "react";
import { because } from "../../ui/problem";
import type { Flow, Step } from "./types";

export const kinds = [
  "say",
  "ask",
  "if",
  "set",
  "http",
  "wait",
  "send_template",
  "place_call",
  "goto",
  "handoff",
  "end",
] as const;
export type Kind = (typeof kinds)[number];

/** kindOf is what a step is; one that is nothing yet says something. */
export function kindOf(s: Step): Kind {
  return kinds.find((k) => s[k] !== undefined) ?? "say";
}

/** fresh is a step to begin with. A question saves its reply in a variable that no step sets yet. */
export function fresh(kind: Kind, steps: Step[] = []): Step {
  switch (kind) {
    case "ask":
      return { ask: unused(steps, "answer"), question: "" };
    case "if":
      return { if: "", then: [], else: [] };
    case "set":
      return { set: {} };
    case "http":
      return { http: { method: "GET", url: "" } };
    case "wait":
      return { wait: "1h" };
    case "send_template":
      return { send_template: { name: "", language: "" } };
    case "place_call":
      return { place_call: { agent: "" } };
    case "end":
      return { end: true };
    default:
      return { [kind]: "" };
  }
}

function unused(steps: Step[], name: string): string {
  const taken = new Set(variablesOf(steps));
  if (!taken.has(name)) return name;
  let n = 2;
  while (taken.has(`${name}_${n}`)) n++;
  return `${name}_${n}`;
}

export const branches = ["then", "else"] as const;
export type Branch = (typeof branches)[number];

/** split takes a step's path apart: its list and its place in it. */
export function split(path: string): { list: string; index: number } {
  const i = path.lastIndexOf(".");
  return { list: path.slice(0, i), index: Number(path.slice(i + 1)) };
}

/** ownerOf is the step that a list belongs to; "" for the flow's own list. */
export function ownerOf(list: string): string {
  return list === "steps" ? "" : list.slice(0, list.lastIndexOf("."));
}

/** walk visits all steps in order. */
export function walk(
  steps: Step[],
  visit: (path: string, s: Step, depth: number) => void,
  list = "steps",
  depth = 0,
): void {
  steps.forEach((s, i) => {
    visit(`${list}.${i}`, s, depth);
    for (const b of branches) walk(s[b] ?? [], visit, `${list}.${i}.${b}`, depth + 1);
  });
}

export function stepAt(steps: Step[], path: string): Step | undefined {
  const { list, index } = split(path);
  return listAt(steps, list)[index];
}

export function listAt(steps: Step[], list: string): Step[] {
  const owner = ownerOf(list);
  return owner === "" ? steps : (stepAt(steps, owner)?.[list.endsWith(".then") ? "then" : "else"] ?? []);
}

/** withList changes one list. */
export function withList(steps: Step[], list: string, change: (l: Step[]) => Step[]): Step[] {
  const owner = ownerOf(list);
  if (owner === "") return change(steps);
  const branch: Branch = list.endsWith(".then") ? "then" : "else";
  return replace(steps, owner, (s) => ({ ...s, [branch]: change(s[branch] ?? []) }));
}

export function replace(steps: Step[], path: string, change: (s: Step) => Step): Step[] {
  const { list, index } = split(path);
  return withList(steps, list, (l) => l.map((s, i) => (i === index ? change(s) : s)));
}

export function insert(steps: Step[], list: string, index: number, s: Step): Step[] {
  return withList(steps, list, (l) => [...l.slice(0, index), s, ...l.slice(index)]);
}

export function remove(steps: Step[], path: string): Step[] {
  const { list, index } = split(path);
  return withList(steps, list, (l) => l.filter((_, i) => i !== index));
}

/** Moved are the steps after a change, and where the step is then. */
export interface Moved {
  steps: Step[];
  path: string;
}

/** move puts a step before the one at an index of a list; null where that is within itself. */
export function move(steps: Step[], from: string, list: string, index: number): Moved | null {
  const s = stepAt(steps, from);
  if (!s || (list + ".").startsWith(from + ".")) return null;
  const gap: Step = {}; // stands for the step until the other places are right
  const with2 = insert(
    replace(steps, from, () => gap),
    list,
    index,
    s,
  );
  const without = (l: Step[]): Step[] =>
    l
      .filter((x) => x !== gap)
      .map((x) => (holds(x, gap) ? { ...x, then: x.then && without(x.then), else: x.else && without(x.else) } : x));
  const moved = without(with2);
  let path = from;
  walk(moved, (p, x) => {
    if (x === s) path = p;
  });
  return { steps: moved, path };
}

function holds(s: Step, wanted: Step): boolean {
  return branches.some((b) => (s[b] ?? []).some((x) => x === wanted || holds(x, wanted)));
}

export type Direction = "up" | "down" | "in" | "in_else" | "out";

/** shift moves a step by one place, into a branch of the step before it, or out of its branch; null where there is no such place. */
export function shift(steps: Step[], path: string, to: Direction): Moved | null {
  const { list, index } = split(path);
  const all = listAt(steps, list);
  switch (to) {
    case "up":
      return index > 0 ? move(steps, path, list, index - 1) : null;
    case "down":
      return index < all.length - 1 ? move(steps, path, list, index + 2) : null;
    case "in":
    case "in_else": {
      const before = all[index - 1];
      if (!before || kindOf(before) !== "if") return null;
      const branch = to === "in" ? "then" : "else";
      return move(steps, path, `${list}.${index - 1}.${branch}`, before[branch]?.length ?? 0);
    }
    case "out": {
      const owner = ownerOf(list);
      if (!owner) return null;
      const o = split(owner);
      return move(steps, path, o.list, o.index + 1);
    }
  }
}

/** duplicate puts a copy behind a step. Ids name one step, so that the copy has none. */
export function duplicate(steps: Step[], path: string): Moved {
  const { list, index } = split(path);
  const copy = (s: Step): Step => {
    const { id: _, ...rest } = structuredClone(s);
    for (const b of branches) if (rest[b]) rest[b] = rest[b].map(copy);
    return rest;
  };
  return { steps: insert(steps, list, index + 1, copy(stepAt(steps, path)!)), path: `${list}.${index + 1}` };
}

/** named gives a step an id, where it has none, and returns it. */
export function named(steps: Step[], path: string): { steps: Step[]; id: string } {
  const has = stepAt(steps, path)?.id;
  if (has) return { steps, id: has };
  const taken = new Set<string>();
  walk(steps, (_, s) => {
    if (s.id) taken.add(s.id);
  });
  let n = 1;
  while (taken.has(`step-${n}`)) n++;
  return { steps: replace(steps, path, (s) => ({ id: `step-${n}`, ...s })), id: `step-${n}` };
}

const given = [
  "name",
  "first_name",
  "email",
  "number",
  "username",
  "verified",
  "language",
  "channel",
  "event",
  "notification_id",
];

/** variablesOf are the names that texts of a flow may use: those that runs begin with, and those that its steps set. */
export function variablesOf(steps: Step[]): string[] {
  const all = new Set<string>();
  walk(steps, (_, s) => {
    if (s.ask) all.add(s.ask);
    Object.keys(s.set ?? {}).forEach((n) => all.add(n));
    Object.keys(s.http?.save ?? {}).forEach((n) => all.add(n));
    if (s.http?.status) all.add(s.http.status);
  });
  return [...[...all].filter(Boolean), ...given.filter((g) => !all.has(g))];
}

/** lastAsked is the variable of the last question before a step, in the order of the list; "" without one. */
export function lastAsked(steps: Step[], path: string): string {
  let found = "",
    passed = false;
  walk(steps, (p, s) => {
    passed ||= p === path;
    if (!passed && s.ask) found = s.ask;
  });
  return found;
}

/** repliesOf are the replies that questions offer for a variable. */
export function repliesOf(steps: Step[], variable: string): string[] {
  const all = new Set<string>(variable === "verified" ? ["yes", "no"] : []);
  walk(steps, (_, s) => {
    if (s.ask !== variable) return;
    (s.accept === "yes_no" && !s.choices?.length ? ["yes", "no"] : (s.choices ?? [])).forEach((c) => all.add(c));
  });
  return [...all];
}

/** mergeable reports whether a step asks without a question, right after a message. */
export function mergeable(steps: Step[], path: string): boolean {
  const { list, index } = split(path);
  const [before, s] = [listAt(steps, list)[index - 1], stepAt(steps, path)];
  return !!before?.say?.trim() && s?.ask !== undefined && !s.question?.trim();
}

/** merge makes the message before a step its question. Steps that go to the message go to the question then. */
export function merge(steps: Step[], path: string): Moved {
  const { list, index } = split(path);
  const before = listAt(steps, list)[index - 1]!;
  const asked = replace(steps, path, (s) => ({
    ...s,
    ...((s.id ?? before.id) ? { id: s.id ?? before.id } : {}),
    question: before.say,
  }));
  const id = stepAt(asked, path)!.id;
  const led = (l: Step[]): Step[] =>
    l.map((s) => ({
      ...s,
      ...(before.id && s.goto === before.id ? { goto: id } : {}),
      ...(s.then ? { then: led(s.then) } : {}),
      ...(s.else ? { else: led(s.else) } : {}),
    }));
  return { steps: led(remove(asked, `${list}.${index - 1}`)), path: `${list}.${index - 1}` };
}

/** numberOf is a path as people read it: 3, or 3 yes 1. */
export function numberOf(path: string, yes: string, no: string): string {
  return path
    .split(".")
    .slice(1)
    .map((x) => (x === "then" ? yes : x === "else" ? no : String(Number(x) + 1)))
    .join(" ");
}

/** summary is what a step does, in a few words. */
export function summary(s: Step): string {
  switch (kindOf(s)) {
    case "say":
      return s.say ?? "";
    case "ask":
      return [s.question || s.ask, s.choices?.length ? s.choices.join(" · ") : ""].filter(Boolean).join(" · ");
    case "if":
      return s.if ?? "";
    case "set":
      return Object.entries(s.set ?? {})
        .map(([n, v]) => `${n} = ${v}`)
        .join(", ");
    case "http":
      return s.http?.url ? `${s.http.method ?? "GET"} ${s.http.url.replace(/^https?:\/\//, "")}` : "";
    case "wait":
      return s.wait ?? "";
    case "send_template":
      return [s.send_template?.name, s.send_template?.language].filter(Boolean).join(" · ");
    case "place_call":
      return s.place_call?.agent ?? "";
    case "goto":
      return s.goto ?? "";
    case "handoff":
      return s.handoff ?? "";
    case "end":
      return "";
  }
}

/** errorOf is what the server said about a field or what is in it; "" where it said nothing. */
export function errorOf(faults: { field: string; reason: string }[], field: string): ReactNode {
  return because(faults.find((f) => f.field === field || f.field.startsWith(field + ".")));
}

/** faultsAt are those of a step itself, without those of the steps in its branches. */
export function faultsAt<F extends { field: string }>(faults: F[], path: string): F[] {
  return faults.filter(
    (f) =>
      f.field === path || (f.field.startsWith(path + ".") && !/^(then|else)\.\d/.test(f.field.slice(path.length + 1))),
  );
}

/** bare is a flow as the editor keeps it: its id stands in the address. */
export function bare(f: Flow & { id?: string }): Flow {
  return { name: f.name, trigger: f.trigger ?? {}, steps: f.steps ?? [] };
}
