import { expect, it } from "vitest";
import { listQuery } from "./query";

const view = { folder: "mine", closed: false, me: "a", order: "oldest" } as const;
const base = { folder: "mine", limit: "40", order: "oldest" };

it.each([
  ["", {}],
  ["  ", {}],
  [" late order ", { search: "late order" }],
  ["tag:vip", { tag: "vip" }],
  ["tag:two words", { search: "tag:two words" }],
  ["topic: opening hours ", { topic: "opening hours" }],
  ["goal:no", { goal: "no" }],
  ["goal:perhaps", { search: "goal:perhaps" }],
])("%j asks for %j", (search, asked) => {
  expect(listQuery(view, search)).toEqual({ ...base, ...asked });
});

it("asks for closed conversations and the next page", () => {
  expect(listQuery({ ...view, closed: true }, "", "c1")).toEqual({ ...base, closed: "true", cursor: "c1" });
});
