import { expect, test } from "vitest";
import { addressOf, flowAddressOf } from "./address";
import { credentialOf, hostOf } from "./credential";
import { example, exampleNames } from "./examples";
import { boxHeight, boxWidth, draw } from "./layout";
import {
  duplicate,
  errorOf,
  faultsAt,
  insert,
  listAt,
  fresh,
  lastAsked,
  merge,
  mergeable,
  move,
  named,
  numberOf,
  remove,
  repliesOf,
  shift,
  stepAt,
  summary,
  variablesOf,
  walk,
} from "./model";
import type { Step } from "./types";

const steps: Step[] = [
  { say: "a" },
  {
    if: "x == 'y'",
    then: [
      { id: "t", say: "b" },
      { if: "z", then: [{ say: "c" }], else: [] },
    ],
    else: [{ goto: "t" }],
  },
  { ask: "order", choices: ["1", "2"] },
];

const shape = (all: Step[]): string =>
  all.map((s) => (s.if === undefined ? summary(s) : `(${shape(s.then ?? [])}|${shape(s.else ?? [])})`)).join(" ");

test("a step is found and changed by its path", () => {
  expect(stepAt(steps, "steps.1.then.1.then.0")).toEqual({ say: "c" });
  expect(stepAt(steps, "steps.7")).toBeUndefined();
  expect(stepAt(steps, "steps.0.then.0")).toBeUndefined();
  expect(listAt(steps, "steps.1.else")).toHaveLength(1);
  expect(shape(remove(steps, "steps.1.then.0"))).toBe("a ((c|)|t) order · 1 · 2");
  expect(shape(insert(steps, "steps.1.then.1.else", 0, { say: "d" }))).toBe("a (b (c|d)|t) order · 1 · 2");
  expect(shape(steps)).toBe("a (b (c|)|t) order · 1 · 2");
  const paths: string[] = [];
  walk(steps, (p) => paths.push(p));
  expect(paths).toEqual([
    "steps.0",
    "steps.1",
    "steps.1.then.0",
    "steps.1.then.1",
    "steps.1.then.1.then.0",
    "steps.1.else.0",
    "steps.2",
  ]);
});

test("a step is moved anywhere but into itself", () => {
  expect(move(steps, "steps.1", "steps.1.then", 0)).toBeNull();
  const m = move(steps, "steps.0", "steps.1.else", 1)!;
  expect([shape(m.steps), m.path]).toEqual(["(b (c|)|t a) order · 1 · 2", "steps.0.else.1"]);
  const out = move(steps, "steps.1.then.1.then.0", "steps", 0)!;
  expect([shape(out.steps), out.path]).toEqual(["c a (b (|)|t) order · 1 · 2", "steps.0"]);
  const same = move(steps, "steps.0", "steps", 0)!;
  expect([shape(same.steps), same.path]).toEqual([shape(steps), "steps.0"]);
});

test("a step is moved by the keyboard: along its list, into a branch before it, and out of it", () => {
  const by = (path: string, to: Parameters<typeof shift>[2]) => {
    const m = shift(steps, path, to);
    return m && [shape(m.steps), m.path];
  };
  expect(by("steps.0", "up")).toBeNull();
  expect(by("steps.2", "down")).toBeNull();
  expect(by("steps.0", "down")).toEqual(["(b (c|)|t) a order · 1 · 2", "steps.1"]);
  expect(by("steps.2", "up")).toEqual(["a order · 1 · 2 (b (c|)|t)", "steps.1"]);
  expect(by("steps.1", "in")).toBeNull();
  expect(by("steps.2", "in")).toEqual(["a (b (c|) order · 1 · 2|t)", "steps.1.then.2"]);
  expect(by("steps.2", "in_else")).toEqual(["a (b (c|)|t order · 1 · 2)", "steps.1.else.1"]);
  expect(by("steps.1.else.0", "out")).toEqual(["a (b (c|)|) t order · 1 · 2", "steps.2"]);
  expect(by("steps.0", "out")).toBeNull();
});

test("a copy has no ids, and a step gets one that is free", () => {
  const d = duplicate(steps, "steps.1");
  expect([d.path, stepAt(d.steps, "steps.2.then.0")]).toEqual(["steps.2", { say: "b" }]);
  expect(stepAt(d.steps, "steps.1.then.0")).toEqual({ id: "t", say: "b" });
  expect(named(steps, "steps.1.then.0").id).toBe("t");
  const n = named([{ id: "step-1", say: "a" }, { say: "b" }], "steps.1");
  expect([n.id, n.steps[1]]).toEqual(["step-2", { id: "step-2", say: "b" }]);
});

test("a message before a question without a text becomes its text, and steps that led there lead to it", () => {
  const asks: Step[] = [
    { id: "m", say: "Which?" },
    { ask: "x", choices: ["a"] },
    { if: "x == 'b'", then: [{ goto: "m" }] },
  ];
  expect([0, 1, 2].map((i) => mergeable(asks, `steps.${i}`))).toEqual([false, true, false]);
  expect(merge(asks, "steps.1")).toEqual({
    path: "steps.0",
    steps: [
      { id: "m", ask: "x", question: "Which?", choices: ["a"] },
      { if: "x == 'b'", then: [{ goto: "m" }] },
    ],
  });
  const both = merge([{ id: "m", say: "Which?" }, { id: "q", ask: "x" }, { goto: "m" }], "steps.1").steps;
  expect(both).toEqual([{ id: "q", ask: "x", question: "Which?" }, { goto: "q" }]);
  expect(mergeable([{ say: "Hi" }, { ask: "x", question: "Which?" }], "steps.1")).toBe(false);
});

test("questions are asked for new variables, whose replies conditions know", () => {
  expect([fresh("ask"), fresh("ask", [{ ask: "answer" }])]).toEqual([
    { ask: "answer", question: "" },
    { ask: "answer_2", question: "" },
  ]);
  const all: Step[] = [
    { ask: "a", choices: ["1", "2"] },
    { if: "", then: [{ ask: "b", accept: "yes_no" }] },
    { say: "c" },
  ];
  expect([lastAsked(all, "steps.0"), lastAsked(all, "steps.1"), lastAsked(all, "steps.2")]).toEqual(["", "a", "b"]);
  expect([repliesOf(all, "a"), repliesOf(all, "b"), repliesOf(all, "name")]).toEqual([["1", "2"], ["yes", "no"], []]);
});

test("faults belong to the step that they name", () => {
  const faults = [
    { field: "steps.1.if", reason: "1", rule: "required" },
    { field: "steps.1.then.0.say", reason: "2" },
    { field: "steps.10", reason: "3" },
  ];
  expect(faultsAt(faults, "steps.1").map((f) => f.reason)).toEqual(["1"]);
  expect(faultsAt(faults, "steps.1.then.0").map((f) => f.reason)).toEqual(["2"]);
  expect(faultsAt(faults, "steps.10").map((f) => f.reason)).toEqual(["3"]);
  expect([errorOf(faults, "steps.1.if"), errorOf(faults, "steps.2")]).toEqual(["Required.", ""]);
  expect(numberOf("steps.1.then.0", "yes", "no")).toBe("2 yes 1");
  expect(variablesOf(steps).slice(0, 2)).toEqual(["order", "name"]);
});

test("a drawing holds each step once, within its bounds, and none over another", () => {
  for (const name of exampleNames) {
    const all = example(name, "x", "es").steps;
    const d = draw(all);
    const paths: string[] = [];
    walk(all, (p) => paths.push(p));
    expect(d.boxes.map((b) => b.path)).toEqual(paths);
    d.boxes.forEach((b, i) => {
      expect(
        b.x >= 0 && b.x + boxWidth <= d.width && b.y >= 0 && b.y + boxHeight <= d.height,
        `${name} ${b.path}`,
      ).toBe(true);
      for (const c of d.boxes.slice(0, i))
        expect(
          b.x + boxWidth <= c.x || c.x + boxWidth <= b.x || b.y + boxHeight <= c.y || c.y + boxHeight <= b.y,
          `${name}: ${b.path} over ${c.path}`,
        ).toBe(true);
    });
    const lists = new Map<string, number>([["steps", all.length]]);
    walk(all, (p, s) => {
      if (s.if !== undefined) lists.set(`${p}.then`, s.then?.length ?? 0).set(`${p}.else`, s.else?.length ?? 0);
    });
    for (const g of d.gaps) expect(g.index <= lists.get(g.list)!, `${name} ${g.list}.${g.index}`).toBe(true);
    expect(new Set(d.gaps.map((g) => `${g.list}.${g.index}`)).size).toBe(d.gaps.length);
    for (const l of d.lines) expect(l.d).not.toMatch(/NaN|undefined/);
  }
  expect(draw([]).boxes).toEqual([]);
});

test("addresses that anybody may have written are read", () => {
  expect(addressOf({ tab: "runs", flow: "x", state: "bad" })).toEqual({ tab: "runs" });
  expect(flowAddressOf({ tab: "versions", step: "steps.1.then.0" })).toEqual({
    tab: "versions",
    step: "steps.1.then.0",
  });
  for (const step of ["steps", "steps.x", "steps.1.then", '"]', 5]) expect(flowAddressOf({ step })).toEqual({});
});

test("a header that holds a key is marked, and one that holds a secret or no key is not", () => {
  expect(credentialOf("Authorization", "Bearer sk-live-123456")).toEqual({
    prefix: "Bearer ",
    value: "sk-live-123456",
  });
  expect(credentialOf("X-Api-Key", "0123456789")).toEqual({ prefix: "", value: "0123456789" });
  expect(credentialOf("X-Shop", "bearer 0123456789")).toEqual({ prefix: "bearer ", value: "0123456789" });
  expect(credentialOf("X-Auth-Token", "abcdefgh")?.value).toBe("abcdefgh");
  for (const [name, value] of [
    ["Authorization", "Bearer {{secret.shop_key}}"],
    ["Authorization", ""],
    ["X-Api-Key", "short"],
    ["Accept", "application/json"],
    ["X-Monkey", "application/json"],
  ] as const)
    expect(credentialOf(name, value), name).toBeNull();
});

test("a secret is proposed for the host of the address", () => {
  expect(
    [
      "https://api.example.com/orders/{{order}}",
      "https://api.example.com:8443?q={{q}}",
      "http://[::1]:80/",
      "api.example.com",
      "",
    ].map(hostOf),
  ).toEqual(["api.example.com", "api.example.com", "::1", "", ""]);
});
