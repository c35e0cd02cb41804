import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { installed, localOf, Recogniser, type Hypothesis, type Recognition } from "./recogniser";

class Stub implements Recognition {
  static made: Stub[] = [];
  static local = "available";
  static throws = false;
  static available = vi.fn(async () => Stub.local as "available");
  static install = vi.fn(async () => true);
  lang = "";
  continuous = false;
  interimResults = false;
  processLocally?: boolean;
  phrases?: unknown[];
  onstart: Recognition["onstart"] = null;
  onresult: Recognition["onresult"] = null;
  onnomatch: Recognition["onnomatch"] = null;
  onerror: Recognition["onerror"] = null;
  onend: Recognition["onend"] = null;
  started: unknown[] = [];
  results: { isFinal: boolean; 0: { transcript: string; confidence: number } }[] = [];
  constructor() {
    Stub.made.push(this);
  }
  start(track?: unknown) {
    if (Stub.throws) throw new Error("no");
    this.started.push(track);
    this.onstart?.();
  }
  abort() {
    this.fail("aborted");
  }
  say(text: string, isFinal: boolean, confidence = 0.9) {
    const open = this.results.findIndex((r) => !r.isFinal);
    const at = open < 0 ? this.results.length : open;
    this.results[at] = { isFinal, 0: { transcript: text, confidence } };
    this.onresult?.({ resultIndex: at, results: this.results });
  }
  fail(error: string) {
    this.onerror?.({ error });
    this.onend?.();
  }
}

let heard: Hypothesis[];
let states: string[];
const last = () => Stub.made[Stub.made.length - 1]!;

function make(phrases: string[] = [], local = true) {
  const r = new Recogniser({ local, lang: "en", track: true }, phrases, Stub);
  r.onHypothesis = (h) => heard.push(h);
  r.onState = (state, error) => states.push(error ? `${state} ${error}` : state);
  return r;
}

beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  states = [];
  Stub.made = [];
  Stub.throws = false;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the browser's recogniser", () => {
  it("recognises the given track on the device", () => {
    const track = {} as MediaStreamTrack;
    make().start(track);
    expect(last()).toMatchObject({ lang: "en", continuous: true, interimResults: true, processLocally: true });
    expect(last().started).toEqual([track]);
    expect(states).toEqual(["on"]);
  });

  it("passes on whole hypotheses, at most five a second, and only what changed", async () => {
    make().start();
    last().say("I would", false);
    last().say("I would", false);
    last().say("I would like", false);
    last().say("I would like to", false);
    expect(heard.map((h) => h.text)).toEqual(["I would"]);
    await vi.advanceTimersByTimeAsync(200);
    last().say("I would like to know.", true, 0.5);
    last().say("When", false);
    expect(heard).toEqual([
      { utterance: 0, text: "I would", final: false, confidence: 0.9 },
      { utterance: 0, text: "I would like to", final: false, confidence: 0.9 },
      { utterance: 0, text: "I would like to know.", final: true, confidence: 0.5 },
    ]);
    await vi.advanceTimersByTimeAsync(200);
    expect(heard[3]).toEqual({ utterance: 1, text: "When", final: false, confidence: 0.9 });
  });

  it("starts again when it ends, and what was not final then is", async () => {
    make().start();
    last().say("half a sen", false);
    last().onend?.();
    expect(heard[1]).toEqual({ utterance: 0, text: "half a sen", final: true });
    await vi.advanceTimersByTimeAsync(249);
    expect(Stub.made.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(Stub.made.length).toBe(2);
    last().say("tence", true);
    expect(heard[2]).toMatchObject({ utterance: 1, text: "tence" });
    expect(states).toEqual(["on"]);
  });

  it("says that nothing was understood", () => {
    make().start();
    last().say("hm", false);
    last().onnomatch?.();
    expect(heard[1]).toEqual({ utterance: 0, text: "", final: true });
  });

  it("gives up after three starts without a word", async () => {
    make().start();
    for (let i = 0; i < 3; i++) {
      expect(states).toEqual(["on"]);
      last().fail("network");
      await vi.advanceTimersByTimeAsync(250);
    }
    expect(states).toEqual(["on", "failed network"]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(Stub.made.length).toBe(3);
  });

  it("counts the starts since the last word", async () => {
    make().start();
    for (let i = 0; i < 5; i++) {
      if (i % 2 === 0) last().say("yes", true);
      last().fail("network");
      await vi.advanceTimersByTimeAsync(250);
    }
    expect(states).toEqual(["on"]);
  });

  it("does not count long silence", async () => {
    make().start();
    for (let i = 0; i < 5; i++) {
      await vi.advanceTimersByTimeAsync(8000);
      last().fail("no-speech");
      await vi.advanceTimersByTimeAsync(250);
    }
    expect([states, Stub.made.length]).toEqual([["on"], 6]);
  });

  it.each(["not-allowed", "service-not-allowed", "language-not-supported", "audio-capture"])(
    "gives up at once where it is of no use: %s",
    (error) => {
      make().start();
      last().fail(error);
      expect(states).toEqual(["on", "failed " + error]);
    },
  );

  it("never runs twice, however it is switched", async () => {
    const r = make();
    r.start();
    r.start();
    expect(last().started.length).toBe(1);
    const abort = (last().abort = vi.fn()); // the browser takes its time
    r.stop();
    r.start();
    expect([Stub.made.length, abort.mock.calls.length]).toEqual([1, 1]);
    last().fail("aborted");
    await vi.advanceTimersByTimeAsync(250);
    expect(Stub.made.length).toBe(2);
    expect(states).toEqual(["on", "off", "on"]);
    r.stop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(Stub.made.length).toBe(2);
  });

  it("fails where it cannot be started", () => {
    Stub.throws = true;
    make().start();
    expect(states).toEqual(["failed start-failed"]);
  });

  it("favours words, where the browser knows how", async () => {
    make(["Marina"]).start();
    expect(last().phrases).toBe(undefined);
    vi.stubGlobal(
      "SpeechRecognitionPhrase",
      class {
        constructor(
          readonly phrase: string,
          readonly boost: number,
        ) {}
      },
    );
    make(["Marina"]).start();
    expect(last().phrases).toMatchObject([{ phrase: "Marina", boost: 3 }]);
    last().fail("phrases-not-supported");
    await vi.advanceTimersByTimeAsync(250);
    expect(last().phrases).toBe(undefined);
  });

  it("says what the device can, and fetches what it lacks", async () => {
    expect(await localOf("en")).toBe("unavailable");
    expect(await installed("en")).toBe(false);
    vi.stubGlobal("webkitSpeechRecognition", class {}); // Safari's
    expect([await localOf("en"), await installed("en")]).toEqual(["unavailable", false]);
    vi.stubGlobal("SpeechRecognition", Stub);
    Stub.local = "downloadable";
    expect([await localOf("en"), await installed("en")]).toEqual(["downloadable", true]);
    expect(Stub.available).toHaveBeenCalledWith({ langs: ["en"], processLocally: true });
    Stub.install.mockRejectedValueOnce(new DOMException("", "NotAllowedError"));
    expect(await installed("en")).toBe(false);
  });
});
