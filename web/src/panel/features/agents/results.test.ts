import { expect, it } from "vitest";
import { withoutResult, withResult } from "./results";
import type { Agent, Result } from "./types";

const agent = (goal_result: string | undefined, ...names: string[]) =>
  ({ goal: "They book", goal_result, result: names.map((name): Result => ({ name, type: "text" })) }) as Agent;

it("lets a renamed result decide", () => {
  let a = agent("sure", "sure", "people");
  for (const name of ["sur", "", "c", "certain"]) a = { ...a, ...withResult(a, 0, { name }) };
  expect([a.goal_result, a.result.map((r) => r.name)]).toEqual(["certain", ["certain", "people"]]);
  expect(withResult(a, 1, { name: "guests" })).not.toHaveProperty("goal_result");
  expect(withResult(a, 0, { type: "boolean" })).not.toHaveProperty("goal_result");
});

it("lets no removed result decide", () => {
  expect(withoutResult(agent("sure", "sure", "people"), 0)).toEqual({
    result: [{ name: "people", type: "text" }],
    goal_result: undefined,
  });
  expect(withoutResult(agent("sure", "sure", "people"), 1)).not.toHaveProperty("goal_result");
  expect(withoutResult(agent("sure", "sure", "sure"), 1)).not.toHaveProperty("goal_result");
  expect(withoutResult(agent(undefined, "sure"), 0)).not.toHaveProperty("goal_result");
});
