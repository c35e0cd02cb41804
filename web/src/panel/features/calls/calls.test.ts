import { describe, expect, it } from "vitest";
import { addressOf, queryOf } from "./address";
import { append, begin, nothing, refresh, replace, reveal } from "./list";
import type { CallRow, CallState } from "./types";
import { playing, WaveReader } from "./wave";

const row = (call_id: string, state: CallState = "completed"): CallRow => ({ call_id, direction: "outgoing", state, number: "34600111222", created_at: "", attempts: 1, has_recording: false });
const page = (ids: string, next: string | null = null) => ({ data: ids.split("").map((id) => row(id)), next_cursor: next });
const ids = (rows: CallRow[]) => rows.map((r) => r.call_id).join("");

describe("the list of calls", () => {
  it("shows new calls at once while nobody reads it, and holds them back while somebody does", () => {
    const s = append(begin(page("dc", "more")), page("ba"));
    expect(ids(s.rows)).toBe("dcba");
    expect(ids(refresh(s, page("fed", "more"), false).rows)).toBe("fedcba");
    const held = refresh(s, page("fed", "more"), true);
    expect([ids(held.rows), ids(held.fresh)]).toEqual(["dcba", "fe"]);
    expect(ids(reveal(held).rows)).toBe("fedcba");
  });
  it("takes away what no longer fits only while nobody reads it", () => {
    const s = begin(page("dcba"));
    expect(ids(refresh(s, page("da"), true).rows)).toBe("dcba");
    expect(ids(refresh(s, page("da"), false).rows)).toBe("da");
  });
  it("begins again where too many came", () => {
    const s = begin(page("ba"));
    expect(ids(refresh(s, page("fe", "more"), false).rows)).toBe("fe");
    const held = refresh(s, page("fe", "more"), true);
    expect([ids(held.rows), ids(held.fresh), held.gap]).toEqual(["ba", "fe", true]);
    expect(ids(reveal(held).rows)).toBe("fe");
    expect(ids(refresh(nothing, page("a"), true).rows)).toBe("a");
  });
  it("changes a call in its row", () => {
    expect(replace(begin(page("ba")), row("a", "busy")).rows.map((r) => r.state)).toEqual(["completed", "busy"]);
  });
});

describe("the address of the list", () => {
  it("takes nothing that it does not know", () => {
    expect(addressOf({ state: "gone", agent: "", line: 7, number: 34600111222, campaign: ["x"] })).toEqual({ line: "7", number: "34600111222" });
    expect(queryOf(addressOf({ state: "under_way" })).state).toBe("dialing,ringing,in_progress");
    expect(queryOf(addressOf({ state: "busy" })).state).toBe("busy");
  });
});

describe("a recording", () => {
  it("has a shape, however its bytes arrive", () => {
    const file = new Uint8Array(44 + 2 * 400);
    const view = new DataView(file.buffer);
    for (let i = 100; i < 200; i++) view.setInt16(44 + 2 * i, i % 2 ? 16384 : -16384, true);
    for (const step of [1, 7, 44, 1000]) {
      const w = new WaveReader(file.length, 4);
      for (let i = 0; i < file.length; i += step) w.add(file.subarray(i, i + step));
      expect([...w.peaks]).toEqual([0, 0.5, 0, 0]);
      expect(w.known).toBe(4);
    }
  });
  it("says which turn is heard", () => {
    const turns = [{ offset_ms: 0 }, { offset_ms: 4000 }, {}, { offset_ms: 9000 }];
    expect([0, 3.9, 4, 8, 9.5].map((s) => playing(turns, s))).toEqual([0, 0, 1, 1, 3]);
    expect(playing([{}], 1)).toBe(-1);
  });
});
