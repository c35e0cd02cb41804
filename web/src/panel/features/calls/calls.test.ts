import { describe, expect, it } from "vitest";
import { addressOf, queryOf } from "./address";
import type { CallRow, CallState } from "./types";
import { pageTexts, texts } from "./texts";
import { stepsOf } from "./Timeline";
import { playing, WaveReader } from "./wave";

const row = (call_id: string, state: CallState = "completed"): CallRow => ({
  agent_id: "",
  call_id,
  direction: "outgoing",
  state,
  number: "34600111222",
  created_at: "",
  attempts: 1,
  has_recording: false,
});
describe("the address of the list", () => {
  it("takes nothing that it does not know", () => {
    expect(addressOf({ state: "gone", agent: "", line: 7, number: 34600111222, campaign: ["x"] })).toEqual({
      line: "7",
      number: "34600111222",
    });
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
      expect(w.lanes.map((x) => [...x])).toEqual([[0, 0.5, 0, 0]]);
      expect(w.known).toBe(4);
    }
  });
  it("has a shape for each side", () => {
    const file = new Uint8Array(44 + 2 * 2 * 400);
    file[22] = 2;
    const view = new DataView(file.buffer);
    for (let i = 100; i < 200; i++) view.setInt16(44 + 4 * i, -16384, true);
    for (let i = 300; i < 400; i++) view.setInt16(44 + 4 * i + 2, 8192, true);
    for (const step of [1, 7, 44, 10_000]) {
      const w = new WaveReader(file.length, 4);
      for (let i = 0; i < file.length; i += step) w.add(file.subarray(i, i + step));
      expect(w.lanes.map((x) => [...x])).toEqual([
        [0, 0.5, 0, 0],
        [0, 0, 0, 0.25],
      ]);
      expect(w.known).toBe(4);
    }
    const half = new WaveReader(file.length, 4);
    half.add(file.subarray(0, 44 + 800));
    expect(half.known).toBe(2);
  });
  it("says which turn is heard", () => {
    const turns = [{ offset_ms: 0 }, { offset_ms: 4000 }, {}, { offset_ms: 9000 }];
    expect([0, 3.9, 4, 8, 9.5].map((s) => playing(turns, s))).toEqual([0, 0, 1, 1, 3]);
    expect(playing([{}], 1)).toBe(-1);
  });
});

describe("the timeline of a call that was put through", () => {
  const at = (s: number) => new Date(Date.UTC(2026, 0, 31, 8, 0, s)).toISOString();
  const of = (more: object) =>
    stepsOf(
      {
        ...row("a"),
        created_at: at(0),
        answered_at: at(2),
        tries: [{ n: 1, state: "completed", counts: true, dialed_at: at(1), answered_at: at(2), ended_at: at(50) }],
        turns: [],
        ...more,
      },
      texts.now,
      pageTexts.now,
      "en",
    );
  const missed = {
    number: "34600111333",
    mode: "bridge" as const,
    state: "no_answer" as const,
    outcome: "unanswered" as const,
    cause: "480 Away",
    dialed_at: at(10),
    ended_at: at(20),
  };
  const put = {
    number: "34600111333",
    mode: "bridge" as const,
    state: "completed" as const,
    outcome: "taken" as const,
    dialed_at: at(25),
    answered_at: at(28),
    taken_at: at(30),
    ended_at: at(50),
  };
  it("has its transfers before its end", () => {
    const steps = of({ ended_at: at(50), transfers: [missed, put] });
    expect(steps.slice(3).map((s) => s.text)).toEqual([
      "Calling +34\u00a0600\u00a0111\u00a0333 to transfer the call",
      "+34\u00a0600\u00a0111\u00a0333 didn't take the call",
      "Calling +34\u00a0600\u00a0111\u00a0333 to transfer the call",
      "+34\u00a0600\u00a0111\u00a0333 answered and was asked to take the call",
      "Transferred to +34\u00a0600\u00a0111\u00a0333",
      "The call with +34\u00a0600\u00a0111\u00a0333 ended",
      "Completed",
    ]);
    expect([steps[4]!.more, steps[8]!.more]).toEqual(["No one took the call · 480 Away", "Talked 0:20"]);
  });
  it("ends with a transfer by the phone company", () => {
    const { answered_at: _, ...rest } = put;
    const steps = of({ ended_at: at(50), transfers: [{ ...rest, mode: "refer" as const, taken_at: at(50) }] });
    expect(steps.slice(3).map((s) => s.text)).toEqual([
      "Asked the phone company to transfer the call to +34\u00a0600\u00a0111\u00a0333",
      "Transferred to +34\u00a0600\u00a0111\u00a0333 by the phone company",
      "Completed",
    ]);
  });
  it("marks where it stands", () => {
    const { ended_at: _, ...on } = put;
    const steps = of({
      state: "in_progress",
      tries: [{ n: 1, state: "in_progress", counts: true, dialed_at: at(1), answered_at: at(2) }],
      transfers: [on],
    });
    expect(steps.filter((s) => s.tone === "accent").map((s) => s.text)).toEqual([
      "Transferred to +34\u00a0600\u00a0111\u00a0333",
    ]);
  });
  it("numbers the attempts that count", () => {
    const tries = [false, true].map((counts, i) => ({
      n: i + 1,
      state: counts ? "rejected" : "failed",
      counts,
      cause: "Because",
      dialed_at: at(i),
      ended_at: at(i),
    }));
    expect(
      of({ state: "rejected", ended_by: "callee", ended_at: at(1), answered_at: undefined, tries })
        .slice(1)
        .map((s) => [s.text, s.more]),
    ).toEqual([
      ["Dialed", undefined],
      ["Line error", "Because · doesn't count as an attempt"],
      ["Dialed, attempt 1", undefined],
      ["Declined: Because", ""],
    ]);
  });
  it("has them for callers too", () => {
    expect(
      of({ direction: "incoming", tries: [], ended_at: at(50), duration_s: 48, transfers: [put] })
        .map((s) => s.text)
        .slice(-2),
    ).toEqual(["The call with +34\u00a0600\u00a0111\u00a0333 ended", "Completed"]);
  });
});
