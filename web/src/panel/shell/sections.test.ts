import { describe, expect, it, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("window", new EventTarget())); // live counts listen to it

import { covers, entriesOf, entryAt, pagesOf, sections } from "./sections";

const entries = (can: (p: string) => boolean, collapsed = false) =>
  sections.filter((s) => !s.collapsed || collapsed).flatMap((s) => entriesOf(s, can));

describe("the navigation", () => {
  it("has fourteen entries beside the test phone, without the developers' group", () => {
    expect(entries(() => true).filter((e) => !e.only)).toHaveLength(14);
  });

  it("leaves out what a role may not see", () => {
    expect(pagesOf((p) => p === "users:read").map((p) => p.to)).toEqual(["/users"]);
    expect(entries((p) => p === "users:read", true).map((e) => [e.text, e.to])).toEqual([["settings", "/users"]]);
    expect(entries(() => false, true)).toEqual([]);
  });

  it("has each page once", () => {
    const all = pagesOf(() => true).map((p) => p.to);
    expect(new Set(all).size).toBe(all.length);
  });

  it("knows the entry of an address", () => {
    for (const [path, text] of [
      ["/", "overview"],
      ["/lines/office", "numbers"],
      ["/change-log", "settings"],
      ["/tools", "agents"],
    ] as const)
      expect(entryAt(path)?.text).toBe(text);
    expect(entryAt("/account")).toBeUndefined();
    const send = pagesOf(() => true).find((p) => p.to === "/send")!;
    expect(covers(send, "/senders")).toBe(false);
  });
});
