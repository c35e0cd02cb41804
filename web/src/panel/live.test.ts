import { afterEach, beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("window", { addEventListener: () => {} });
const { Live } = await import("./live");

type Stream = {
  headers: Record<string, string>;
  url: string;
  write: (text: string) => void;
  end: () => void;
  fail: () => void;
};
let streams: Stream[] = [];
let status = 200;

beforeEach(() => {
  vi.useFakeTimers();
  streams = [];
  status = 200;
  vi.stubGlobal("fetch", (url: string, o: { headers: Record<string, string>; signal: AbortSignal }) => {
    if (status !== 200) return Promise.resolve(new Response(JSON.stringify({ error: "forbidden" }), { status }));
    let c!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (x) => {
        c = x;
      },
    });
    o.signal.addEventListener("abort", () => {
      try {
        c.error(new Error("aborted"));
      } catch {
        /* it has ended */
      }
    });
    streams.push({
      headers: o.headers,
      url,
      write: (t) => c.enqueue(new TextEncoder().encode(t)),
      end: () => c.close(),
      fail: () => c.error(new Error("cut")),
    });
    return Promise.resolve(new Response(body));
  });
});
afterEach(() => vi.useRealTimers());

const settle = () => vi.advanceTimersByTimeAsync(0);

test("a stream that is cut goes on behind the last event, after a pause", async () => {
  const live = new Live("/inbox/events");
  const got: unknown[] = [];
  const stop = live.listen((e) => got.push(e));
  await settle();
  expect(live.state).toBe("open");
  streams[0]!.write(': open\n\nid: 7\nevent: conversation.updated\ndata: {"a":1}\n\nevent: typing\ndata: {"b":2}\n\n');
  await settle();
  expect(got).toEqual([
    { event: "reset", data: {} },
    { event: "conversation.updated", data: { a: 1 } },
    { event: "typing", data: { b: 2 } },
  ]);
  streams[0]!.fail();
  await settle();
  expect([live.state, streams.length]).toEqual(["broken", 1]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(live.state).toBe("open");
  expect(streams[1]!.headers["Last-Event-ID"]).toBe("7");
  expect(got.length).toBe(3);
  stop();
  expect(live.state).toBe("off");
});

test("what was missed without an id to go on from makes the screen load everything", async () => {
  const live = new Live("/inbox/events");
  const got: unknown[] = [];
  const stop = live.listen((e) => got.push(e));
  await settle();
  expect(got).toEqual([{ event: "reset", data: {} }]); // what happened between the load and the opening
  streams[0]!.fail();
  await vi.advanceTimersByTimeAsync(1000);
  expect(got).toEqual([
    { event: "reset", data: {} },
    { event: "reset", data: {} },
  ]);
  stop();
});

test("the pauses grow, silence counts as a cut, and a refusal ends it", async () => {
  const live = new Live("/inbox/events");
  const stop = live.listen(() => {});
  await settle();
  await vi.advanceTimersByTimeAsync(52_000); // nothing came: not even a heartbeat
  expect(streams.length).toBe(2);
  for (let n = 0; n < 3; n++) {
    streams.at(-1)!.end();
    await vi.advanceTimersByTimeAsync(40_000);
  }
  expect(streams.length).toBeGreaterThan(3);
  status = 403;
  streams.at(-1)!.fail();
  await vi.advanceTimersByTimeAsync(120_000);
  const before = streams.length;
  await vi.advanceTimersByTimeAsync(120_000);
  expect([live.state, streams.length]).toEqual(["broken", before]);
  stop();
});

test("several listeners share one stream", async () => {
  const live = new Live("/inbox/events");
  const stops = [live.listen(() => {}), live.listen(() => {})];
  await settle();
  expect(streams.length).toBe(1);
  stops[0]!();
  expect(live.state).toBe("open");
  stops[1]!();
  expect(live.state).toBe("off");
});

test("a window that nobody sees has no stream, and on the way back all is read again", async () => {
  let changed = () => {};
  const page = {
    hidden: false,
    addEventListener: (_: string, on: () => void) => {
      changed = on;
    },
    removeEventListener: () => {},
  };
  vi.stubGlobal("document", page);
  const live = new Live("/events");
  const got: string[] = [];
  const stop = live.seen((e) => got.push(e.event));
  await settle();
  expect([live.state, streams.length]).toEqual(["open", 1]);
  page.hidden = true;
  changed();
  expect(live.state).toBe("off");
  got.length = 0;
  page.hidden = false;
  changed();
  changed();
  await settle();
  expect([live.state, streams.length, got[0]]).toEqual(["open", 2, "reset"]);
  stop();
  expect(live.state).toBe("off");
});

test("a stream that gives way to another window's waits as long as the server says, or until somebody looks", async () => {
  const listeners: Record<string, () => void> = {};
  vi.stubGlobal("window", {
    addEventListener: (event: string, on: () => void) => {
      listeners[event] = on;
    },
  });
  vi.stubGlobal("document", { hidden: false });
  const live = new Live("/inbox/events");
  const stop = live.listen(() => {});
  await settle();
  await vi.advanceTimersByTimeAsync(20_000); // long enough for a stream that ends in order
  streams[0]!.write("retry: 30000\n\n");
  streams[0]!.end();
  await vi.advanceTimersByTimeAsync(14_000);
  expect([live.state, streams.length]).toEqual(["broken", 1]);
  await vi.advanceTimersByTimeAsync(17_000);
  expect([live.state, streams.length]).toEqual(["open", 2]);
  streams[1]!.write("retry: 30000\n\n");
  streams[1]!.end();
  await settle();
  listeners["visibilitychange"]!();
  await settle();
  expect([live.state, streams.length]).toEqual(["open", 3]);
  stop();
});

test("a refusal with a time to wait is not tried again before half of it", async () => {
  const live = new Live("/inbox/events");
  const stop = live.listen(() => {});
  await settle();
  let asked = 0;
  vi.stubGlobal("fetch", () => {
    asked++;
    return Promise.resolve(
      new Response(JSON.stringify({ error: "rate_limit_exceeded", retry_after: 5 }), { status: 429 }),
    );
  });
  streams[0]!.fail();
  await vi.advanceTimersByTimeAsync(600); // the pause of the cut
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(asked).toBe(2);
  stop();
});
