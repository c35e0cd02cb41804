import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { csvOf } from "./csv";
import { memoryIn } from "./memory";
import { rangeOf, spanOf } from "./range";
import { rowsBy } from "./rows";
import { runAll, type Failure } from "./run";
import { Sync, type Source } from "./sync";

interface Row {
  id: string;
  counts: Record<string, number>;
}
const row = (id: string, counts: Record<string, number> = { queued: 1 }): Row => ({ id, counts });

describe("a list that changes", () => {
  let rows: Row[];
  let asked: string[];
  let server: Map<string, Row>;
  let fails = 0;
  let held: (() => void)[] | undefined; // responses that are held back
  const answer = async <T>(value: () => T): Promise<T> => {
    const v = value(); // the server's snapshot, which may arrive late
    if (held) await new Promise<void>((r) => held!.push(r));
    if (fails-- > 0) throw new Error("cut");
    return v;
  };
  const list: Source<Row> = {
    id: (r) => r.id,
    of: (e) => (e.data as { id?: string }).id,
    adds: (e) => e.event === "notification.accepted",
    open: () => false,
    first: () => {
      asked.push("first");
      return answer(() => ({ data: [...server.values()].reverse(), next_cursor: null }));
    },
    some: (ids) => {
      asked.push(ids.join(","));
      return answer(() => ids.map((id) => server.get(id)!));
    },
    rows: () => rows,
    took: (p) => {
      rows = p.data;
    },
    changed: (c) => {
      rows = rows.map((r) => c.find((x) => x.id === r.id) ?? r);
    },
  };
  const event = (id: string, name = "message.sent") => ({ event: name, data: { id } });
  beforeEach(() => {
    vi.useFakeTimers();
    rows = [row("b"), row("a")];
    asked = [];
    fails = 0;
    held = undefined;
    server = new Map(["a", "b"].map((id) => [id, row(id)]));
  });
  afterEach(() => vi.useRealTimers());

  it("reads what changed once for many events, and nothing for what it does not show", async () => {
    const s = new Sync(list);
    server.set("a", row("a", { read: 1 }));
    for (let i = 0; i < 50; i++) s.happened(event("a"));
    s.happened(event("z"));
    await vi.advanceTimersByTimeAsync(2000);
    expect(asked).toEqual(["a"]);
    expect(rows[1]!.counts).toEqual({ read: 1 });
    s.happened(event("c", "notification.accepted"));
    await vi.advanceTimersByTimeAsync(2000);
    expect(asked).toEqual(["a", "first"]);
  });
  it("reads again what changed while a response was under way, and never two at once", async () => {
    const s = new Sync(list);
    held = [];
    s.happened(event("a"));
    await vi.advanceTimersByTimeAsync(300);
    server.set("a", row("a", { delivered: 1 }));
    s.happened(event("a"));
    await vi.advanceTimersByTimeAsync(3000);
    expect(asked).toEqual(["a"]);
    held.splice(0).forEach((r) => r());
    await vi.advanceTimersByTimeAsync(300);
    held.splice(0).forEach((r) => r());
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toEqual(["a", "a"]);
    expect(rows[1]!.counts).toEqual({ delivered: 1 });
  });
  it("reads everything after a reset, also when that fails at first", async () => {
    const s = new Sync(list);
    fails = 1;
    server.set("b", row("b", { failed: 1 }));
    s.happened({ event: "reset", data: {} });
    await vi.advanceTimersByTimeAsync(8000);
    expect(asked[0]).toBe("first");
    expect(rows[0]!.counts).toEqual({ failed: 1 });
    s.stop();
    s.happened(event("a"));
    await vi.advanceTimersByTimeAsync(5000);
    expect(asked.at(-1)).not.toBe("a");
  });
});

describe("the rows of a list", () => {
  const { append, begin, nothing, refresh, replace, reveal } = rowsBy<Row>((r) => r.id);
  const page = (ids: string, next: string | null = null) => ({
    data: ids.split("").map((id) => row(id)),
    next_cursor: next,
  });
  const ids = (rows: Row[]) => rows.map((r) => r.id).join("");
  it("show new ones at once while nobody reads, and hold them back while somebody does", () => {
    const s = append(begin(page("dc", "more")), page("ba"));
    expect(ids(s.rows)).toBe("dcba");
    expect(ids(refresh(s, page("fed", "more"), false).rows)).toBe("fedcba");
    const held = refresh(s, page("fed", "more"), true);
    expect([ids(held.rows), ids(held.fresh)]).toEqual(["dcba", "fe"]);
    expect(ids(reveal(held).rows)).toBe("fedcba");
  });
  it("lose what no longer fits only while nobody reads", () => {
    const s = begin(page("dcba"));
    expect(ids(refresh(s, page("da"), true).rows)).toBe("dcba");
    expect(ids(refresh(s, page("da"), false).rows)).toBe("da");
  });
  it("begin again where too many came", () => {
    const s = begin(page("ba"));
    expect(ids(refresh(s, page("fe", "more"), false).rows)).toBe("fe");
    const held = refresh(s, page("fe", "more"), true);
    expect([ids(held.rows), ids(held.fresh), held.gap]).toEqual(["ba", "fe", true]);
    expect(ids(reveal(held).rows)).toBe("fe");
    expect(ids(refresh(nothing, page("a"), true).rows)).toBe("a");
  });
  it("change in their places", () => {
    expect(replace(begin(page("ba")), row("a", { busy: 1 })).rows.map((r) => r.counts)).toEqual([
      { queued: 1 },
      { busy: 1 },
    ]);
  });
});

describe("an action for many rows", () => {
  it("runs three at a time, reports failures by row, and begins nothing once it is stopped", async () => {
    let under = 0,
      most = 0,
      last: [number, Failure<number>[]] = [0, []];
    const stopped = { now: false };
    const run = async (n: number) => {
      most = Math.max(most, ++under);
      await Promise.resolve();
      under--;
      if (n === 2) throw new Error("two");
      if (n === 7) stopped.now = true;
    };
    await runAll(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
      run,
      (...x) => (last = x),
      () => stopped.now,
    );
    expect(most).toBe(3);
    expect(last[1].map((f) => f.row)).toEqual([2]);
    expect(last[0]).toBeGreaterThanOrEqual(7);
    expect(last[0]).toBeLessThan(13);
  });
});

describe("a range of days", () => {
  it("is a preset that moves, or days of the viewer's with the last one included", () => {
    expect(rangeOf({ range: "7d", from: "2026-01-01" })).toEqual({ range: "7d" });
    expect(rangeOf({ range: "9d", from: "2026-13-99", to: "2026-01-31" })).toEqual({ to: "2026-01-31" });
    const at = (...d: [number, number, number]) => new Date(...d).toISOString().replace(".000", "");
    expect(spanOf({ to: "2026-01-31" })).toEqual({ from: undefined, to: at(2026, 1, 1) });
    expect(spanOf({ range: "today" }, new Date(2026, 0, 31, 12))).toEqual({ from: at(2026, 0, 31) });
    expect(spanOf({ range: "7d" }, new Date(2026, 0, 31, 12))).toEqual({ from: at(2026, 0, 25) });
  });
});

describe("what is remembered of a list", () => {
  it("is read as far as it has its form", () => {
    expect(memoryIn("{")).toEqual({});
    expect(memoryIn(null)).toEqual({ hidden: undefined, views: undefined });
    const view = { name: "a", search: { state: "failed" }, hidden: ["when"] };
    expect(memoryIn(JSON.stringify({ hidden: [1], views: [view, { name: 1 }] }))).toEqual({ views: [view] });
  });
});

describe("a CSV file", () => {
  it("quotes what has to be, and has no formulas", () => {
    const columns = { a: (r: string) => r, n: () => -3 };
    expect(csvOf(["=1+1", 'x "y", z'], columns)).toBe('\ufeffa,n\r\n\'=1+1,-3\r\n"x ""y"", z",-3\r\n');
  });
});
