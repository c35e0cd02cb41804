import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Sound } from "./sound";

/** Context is as much of an AudioContext as Sound uses. */
class Context {
  static made: Context[] = [];
  static begins = "running";
  state = Context.begins;
  onstatechange: (() => void) | null = null;
  destination = {};
  closed = false;
  constructor() {
    Context.made.push(this);
  }
  get audioWorklet() {
    return { addModule: async () => {} };
  }
  async resume() {
    await Promise.resolve();
  }
  async close() {
    this.state = "closed";
    this.closed = true;
  }
  createMediaStreamSource() {
    return { connect: () => {}, disconnect: () => {} };
  }
  enter(state: string) {
    this.state = state;
    this.onstatechange?.();
  }
}
class Node {
  static made: Node[] = [];
  port = {
    postMessage: (m: unknown) => {
      this.got.push(m);
    },
    onmessage: null,
  };
  got: unknown[] = [];
  constructor(
    _: unknown,
    readonly name: string,
  ) {
    Node.made.push(this);
  }
  connect() {}
}
class Track extends EventTarget {
  enabled = true;
  stopped = false;
  stop() {
    this.stopped = true;
  }
}

let track: Track;
let ask: () => Promise<unknown>;
beforeEach(() => {
  vi.useFakeTimers();
  Context.made = [];
  Context.begins = "running";
  Node.made = [];
  track = new Track();
  ask = async () => ({ getTracks: () => [track], getAudioTracks: () => [track] });
  vi.stubGlobal("AudioContext", Context);
  vi.stubGlobal("AudioWorkletNode", Node);
  vi.stubGlobal("navigator", { mediaDevices: { getUserMedia: () => ask() } });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const ready = () => vi.advanceTimersByTimeAsync(0);

describe("the sound of a device", () => {
  it("keeps what is to be played until it can be", async () => {
    const s = new Sound();
    s.say({ flush: true }); // there is nothing yet
    s.open();
    s.open();
    s.say({ live: true });
    await ready();
    s.say({ duck: true });
    expect(Context.made.length).toBe(1);
    expect(Node.made[0]!.got).toEqual([{ live: true }, { duck: true }]);
  });

  it("says that nothing is heard until there is a click, and when that is over", async () => {
    Context.begins = "suspended";
    const s = new Sound();
    const seen: boolean[] = [];
    s.onBlocked = (blocked) => seen.push(blocked);
    s.open();
    await vi.advanceTimersByTimeAsync(700);
    expect(seen).toEqual([true]);
    s.resume();
    Context.made[0]!.enter("running");
    expect(seen).toEqual([true, false]);
    Context.made[0]!.enter("interrupted"); // a telephone call
    expect(seen).toEqual([true, false, true]);
  });

  it("gives the microphone back, and everything when it is closed", async () => {
    const s = new Sound();
    s.open();
    expect(await s.listen()).toBe(undefined);
    s.mute(true);
    expect(track.enabled).toBe(false);
    s.silence();
    expect(track.stopped).toBe(true);
    s.close();
    expect(Context.made[0]!.closed).toBe(true);
  });

  it("keeps no microphone that came when it was no longer wanted", async () => {
    const s = new Sound();
    s.open();
    const asked = s.listen();
    s.silence();
    expect([await asked, track.stopped]).toEqual([undefined, true]);
  });

  it("says why there is none", async () => {
    const s = new Sound();
    expect(await s.listen()).toBe("unsupported");
    s.open();
    for (const [name, want] of [
      ["NotAllowedError", "refused"],
      ["NotFoundError", "missing"],
      ["NotReadableError", "busy"],
      ["SecurityError", "refused"],
    ] as const) {
      ask = async () => {
        throw new DOMException("", name);
      };
      expect(await s.listen(), name).toBe(want);
    }
  });

  it("says that it went away by itself", async () => {
    const s = new Sound();
    let lost = 0;
    s.onLost = () => lost++;
    s.open();
    await s.listen();
    track.dispatchEvent(new Event("ended"));
    expect([lost, track.stopped]).toEqual([1, true]);
  });
});
