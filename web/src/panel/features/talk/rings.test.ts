import { expect, it } from "vitest";
import type { Conversation } from "./types";
import { problemOf } from "../agents/schema";
import { heardOf } from "./heard";
import { ringing, waited } from "./rings";

const conversation = (id: string, state: Conversation["state"], more: Partial<Conversation> = {}) =>
  ({
    id,
    channel: "web_voice",
    state,
    state_at: "2026-11-25T02:00:0" + id + "Z",
    contact_id: "c" + id,
    agent_id: "a",
    ...more,
  }) as Conversation;

it("rings while the visitor waits on the line, the longest first", () => {
  let list = ringing([], conversation("2", "queued"), "Ana");
  list = ringing(list, conversation("1", "queued"));
  expect(list.map((r) => [r.id, r.name])).toEqual([
    ["1", ""],
    ["2", "Ana"],
  ]);
  list = ringing(list, conversation("2", "queued"));
  expect(list[1]!.name).toBe("Ana");
  list = ringing(list, conversation("1", "active"));
  expect(list.map((r) => r.id)).toEqual(["2"]);
  for (const state of ["missed", "abandoned", "bot", "resolved", "wrap_up"] as const)
    expect(ringing(list, conversation("2", state))).toEqual([]);
});

it("does not ring for a chat", () => {
  expect(ringing([], conversation("1", "queued", { channel: "web_chat" }))).toEqual([]);
});

it("counts minutes and hours", () => {
  expect([-5, 0, 59_999, 60_000, 3_600_000, 3_725_000].map(waited)).toEqual([
    "0:00",
    "0:00",
    "0:59",
    "1:00",
    "1:00:00",
    "1:02:05",
  ]);
});

it("finds what was heard of a cut answer", () => {
  expect(heardOf("Good morning, we open at nine.", "Good morning,…")).toBe("Good morning,");
  expect(heardOf("Good morning.", "")).toBe("");
  expect(heardOf("Es kostet 5 €.", "It costs")).toBe("It costs"); // the words were others
});

it("takes schemas that are objects", () => {
  expect(["", " ", "{}", '{"type":"object"}', "{ place", "[]", "null", "3"].map(problemOf)).toEqual([
    "",
    "",
    "",
    "",
    "badJson",
    "notObject",
    "notObject",
    "notObject",
  ]);
});
