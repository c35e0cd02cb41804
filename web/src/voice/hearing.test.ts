import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Hearing, meansOf, type Situation } from "./hearing";
import type { Host } from "./host";

const chrome: Situation = { allowed: "device", embedded: true, recognises: true, mayBeLocal: true };
const page = { where: "page", local: true };

describe("the means of understanding speech", () => {
  it.each<[string, Partial<Situation>, object]>([
    ["not where the server does", { allowed: undefined, here: "available" }, {}],
    ["on the device, in a page of its own", { embedded: false, here: "available" }, { means: page }],
    ["after a download", { embedded: false, here: "downloadable" }, { means: page }],
    ["not in a frame, whatever it says", { here: "available" }, { window: true }],
    ["in the page that holds it", { there: "available" }, { means: { where: "host", local: true } }],
    [
      "on the device before the service",
      { allowed: "service", there: "available" },
      { means: { where: "host", local: true } },
    ],
    ["not at all", { embedded: false, here: "unavailable" }, { window: false }],
    ["not at all in Safari", { mayBeLocal: false }, { window: false }],
    ["by the service, if agreed", { allowed: "service" }, { means: { where: "page", local: false }, ask: true }],
    ["and it was", { allowed: "service", agreed: true }, { means: { where: "page", local: false }, ask: false }],
    ["and it was not", { allowed: "service", agreed: false }, { window: true }],
    ["not without a recogniser", { allowed: "service", recognises: false, mayBeLocal: false }, { window: false }],
  ])("%s", (_, more, want) => expect(meansOf({ ...chrome, ...more })).toEqual(want));
});

describe("a page's hearing", () => {
  let told: unknown[];
  const made = (embedded: boolean, allowed: "device" | "service" = "device") => {
    const host = { embedded, tell: (type: string, m: object) => told.push({ type, ...m }) } as unknown as Host;
    return new Hearing(
      host,
      () => allowed,
      () => "en",
      () => {},
    );
  };
  class Recognition {
    static available = async () => "downloadable";
    static install = vi.fn<() => Promise<boolean>>();
    start() {}
    abort() {}
  }
  beforeEach(() => {
    told = [];
    vi.stubGlobal("SpeechRecognition", Recognition);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("has the browser fetch a language, and does without it where that fails", async () => {
    Recognition.install.mockResolvedValueOnce(true).mockResolvedValueOnce(false);
    for (const got of [true, false]) {
      const h = made(false);
      await h.look(false);
      expect(h.fetching).toBe(true);
      await h.fetch();
      expect([h.fetching, !!h.plan.means]).toEqual([false, got]);
    }
  });

  it("does not wait for ever for it", async () => {
    vi.useFakeTimers();
    Recognition.install.mockReturnValueOnce(new Promise(() => {}));
    const h = made(false, "service");
    await h.look(false);
    const done = h.fetch();
    await vi.advanceTimersByTimeAsync(1500);
    await done;
    expect(h.plan).toEqual({ means: { where: "page", local: false }, ask: true });
  });

  it("asks once a talk, and not again after a refusal", () => {
    const h = made(true, "service");
    expect(h.plan.ask).toBe(true);
    h.agree(false);
    expect(h.plan).toEqual({ window: true });
    h.forget(); // another talk
    expect(h.plan.ask).toBe(true);
    h.agree(true);
    h.forget();
    expect(h.plan.ask).toBe(false);
    h.fail();
    expect(h.plan).toEqual({});
  });

  it("has the page that holds it listen", async () => {
    const h = made(true);
    expect(h.make([])).toBe(undefined);
    await h.look(true);
    h.receive({ local: "available" });
    const ears = h.make(["Marina"])!;
    const got: unknown[] = [];
    ears.onHypothesis = (x) => got.push(x);
    ears.onState = (state, error) => got.push([state, error]);
    ears.start();
    h.receive({ state: "on" });
    h.receive({ heard: { utterance: 0, text: "hello", final: true } });
    h.receive({ state: "failed", error: "network" });
    ears.stop();
    expect(got).toEqual([["on", undefined], { utterance: 0, text: "hello", final: true }, ["failed", "network"]]);
    expect(told).toEqual([
      { type: "ears", do: "look", lang: "en" },
      { type: "ears", do: "start", lang: "en", phrases: ["Marina"] },
      { type: "ears", do: "stop" },
    ]);
    expect(ears.offer).toEqual({ local: true, lang: "en", track: false });
  });
});
