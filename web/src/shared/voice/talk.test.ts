import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { samples, toBase64 } from "./protocol";
import type { Progress } from "./playout";
import type { Ears } from "./recogniser";
import type { Device, MicProblem } from "./sound";
import { Talk, type TalkEvents } from "./talk";

class Socket {
  readyState = 0;
  bufferedAmount = 0;
  sent: Record<string, unknown>[] = [];
  closedWith?: number;
  onopen?: () => void;
  onmessage?: (e: { data: string | ArrayBuffer }) => void;
  onclose?: (e: { code: number; reason: string }) => void;
  constructor(
    readonly address: string,
    readonly protocol: string,
  ) {
    sockets.push(this);
  }
  sounds: ArrayBuffer[] = [];
  send(data: string | ArrayBuffer) {
    if (typeof data === "string") this.sent.push(JSON.parse(data));
    else this.sounds.push(data);
  }
  close(code?: number) {
    this.closedWith = code ?? 1005;
    this.readyState = 3;
  }
  open(conversation = "c1", hearing?: string, audio?: string) {
    this.readyState = 1;
    this.onopen?.();
    this.say({
      type: "conversation_initiation_metadata",
      conversation_initiation_metadata_event: { conversation_id: conversation, hearing, audio },
    });
  }
  say(m: object) {
    this.onmessage?.({ data: JSON.stringify(m) });
  }
  lose(code: number) {
    this.readyState = 3;
    this.onclose?.({ code, reason: "" });
  }
}

class Fake implements Device {
  onProgress: (p: Progress) => void = () => {};
  onPiece: (pcm: ArrayBuffer, level: number) => void = () => {};
  onBlocked: (blocked: boolean) => void = () => {};
  onLost = () => {};
  did: unknown[] = [];
  problem?: MicProblem;
  open() {
    this.did.push("open");
  }
  say(m: object) {
    this.did.push(m);
  }
  async listen() {
    this.did.push("listen");
    return this.problem;
  }
  silence() {
    this.did.push("silence");
  }
  mute(on: boolean) {
    this.did.push("mute " + on);
  }
  resume() {
    this.did.push("resume");
  }
  close() {
    this.did.push("close");
  }
}

let sockets: Socket[];
const progress = (more: Partial<Progress>): Progress => ({
  id: 1,
  played: 0,
  buffered: 0,
  playing: false,
  level: 0,
  underruns: 0,
  trimmed: 0,
  ...more,
});
const pcm = (n: number) => toBase64(Int16Array.from({ length: n }, (_, i) => i).buffer);

function talk() {
  const device = new Fake();
  const t = new Talk(device, (a, p) => new Socket(a, p) as unknown as WebSocket);
  const seen: [string, unknown][] = [];
  for (const name of [
    "state",
    "ready",
    "heard",
    "response",
    "corrected",
    "interrupted",
    "choices",
    "sources",
    "turn",
    "moved",
    "teammate",
    "tool",
    "mic",
    "hearing",
    "blocked",
    "problem",
    "closed",
  ] as (keyof TalkEvents)[]) {
    t.on(name, (value) => seen.push([name, value]));
  }
  return { t, device, seen, of: (name: string) => seen.filter(([n]) => n === name).map(([, v]) => v) };
}

beforeEach(() => {
  sockets = [];
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("removeEventListener", () => {});
  vi.stubGlobal("navigator", { onLine: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a talk", () => {
  it("sends and plays sound in binary messages where the server agrees", async () => {
    const { t, device } = talk();
    t.connect("ws://x", { mic: true });
    await vi.advanceTimersByTimeAsync(0);
    const socket = sockets[0]!;
    socket.open("c1", undefined, "binary");
    expect(socket.sent[0]).toMatchObject({ source_info: { audio: "binary" } });
    const said = Int16Array.of(1, -2).buffer;
    device.onPiece(said, 0.4);
    expect(socket.sounds).toEqual([said]);
    const frame = (id: number) => Uint8Array.of(id, 1, 0, 0, 5, 0, 255, 255, 9).buffer; // a byte too many
    socket.onmessage?.({ data: frame(7) });
    expect(device.did.at(-1)).toEqual({ id: 263, pcm: Int16Array.of(5, -1).buffer });
    socket.say({ type: "interruption", interruption_event: { event_id: 263 } });
    const did = device.did.length;
    socket.onmessage?.({ data: frame(7) });
    socket.onmessage?.({ data: Uint8Array.of(1).buffer });
    expect(device.did.length).toBe(did);
  });
  it("reports each break of the sound to the server", async () => {
    const { t, device } = talk();
    t.connect("ws://x", { mic: false });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    for (const underruns of [0, 1, 1, 2]) device.onProgress(progress({ underruns }));
    const reports = sockets[0]!.sent.filter((m) => m.type === "user_playback");
    expect(reports.map((m) => m.underruns)).toEqual([1, 2]);
  });
  it("opens the sound in the click, says how it begins, and listens", async () => {
    const { t, device, of } = talk();
    t.connect("ws://x/?a=1", { mic: true, language: "es", variables: { name: "Ana" } });
    expect(device.did).toEqual(["open", "listen"]);
    await vi.advanceTimersByTimeAsync(0);
    expect([sockets[0]!.address, sockets[0]!.protocol]).toEqual(["ws://x/?a=1", "convai"]);
    sockets[0]!.open();
    expect(sockets[0]!.sent[0]).toMatchObject({
      type: "conversation_initiation_client_data",
      conversation_config_override: { agent: { language: "es" } },
      dynamic_variables: { name: "Ana" },
    });
    expect(of("state")).toEqual(["connecting", "listening"]);
    expect(of("ready")).toEqual([{ conversation: "c1", again: false }]);
    expect(t.mic).toEqual({ on: true, muted: false, problem: undefined });
    device.onPiece(Int16Array.of(1, -2).buffer, 0.4);
    expect([...samples(sockets[0]!.sent[1]!.user_audio_chunk as string)]).toEqual([1, -2]);
    sockets[0]!.say({ type: "ping", ping_event: { event_id: 5 } });
    expect(sockets[0]!.sent[2]).toEqual({ type: "pong", event_id: 5 });
  });

  it("goes on in writing when the microphone is refused", async () => {
    const { t, device, of } = talk();
    device.problem = "refused";
    t.connect("ws://x", { mic: true });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    expect(of("mic").at(-1)).toEqual({ on: false, muted: false, problem: "refused" });
    expect(t.sendText("hello")).toBe(true);
    expect(sockets[0]!.sent.at(-1)).toEqual({ type: "user_message", text: "hello" });
    expect(t.state).toBe("thinking");
  });

  it("says speaking while something is played, and not in a short pause", async () => {
    const { t, device } = talk();
    t.connect("ws://x", { mic: false });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    sockets[0]!.say({ type: "user_transcript", user_transcription_event: { user_transcript: "hi" } });
    expect(t.state).toBe("thinking");
    device.onProgress(progress({ playing: true }));
    expect(t.state).toBe("speaking");
    device.onProgress(progress({}));
    await vi.advanceTimersByTimeAsync(200);
    expect(t.state).toBe("speaking");
    await vi.advanceTimersByTimeAsync(200);
    expect(t.state).toBe("listening");
  });

  it("plays what comes, drops what waits at an interruption, and plays nothing of it any more", async () => {
    const { t, device, of } = talk();
    t.connect("ws://x", { mic: false });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    const s = sockets[0]!;
    s.say({ type: "agent_chat_response_part", text_response_part: { type: "start", text: "", event_id: 3 } });
    s.say({ type: "agent_chat_response_part", text_response_part: { type: "delta", text: "Good ", event_id: 3 } });
    s.say({ type: "agent_chat_response_part", text_response_part: { type: "delta", text: "day", event_id: 3 } });
    s.say({ type: "audio", audio_event: { audio_base_64: pcm(160), event_id: 3 } });
    s.say({ type: "agent_response", agent_response_event: { agent_response: "Good day", event_id: 3 } });
    s.say({ type: "interruption", interruption_event: { event_id: 3 } });
    s.say({ type: "audio", audio_event: { audio_base_64: pcm(160), event_id: 3 } });
    s.say({
      type: "agent_response_correction",
      agent_response_correction_event: {
        original_agent_response: "Good day",
        corrected_agent_response: "Good",
        event_id: 3,
      },
    });
    s.say({ type: "audio", audio_event: { audio_base_64: pcm(160), event_id: 4 } });
    expect(device.did.filter((d) => typeof d === "object").map((d) => Object.keys(d as object).join())).toEqual([
      "pcm,id",
      "flush",
      "pcm,id",
    ]);
    expect(of("response")).toEqual([
      { id: 3, text: "Good ", whole: false },
      { id: 3, text: "Good day", whole: false },
      { id: 3, text: "Good day", whole: true },
    ]);
    expect(of("corrected")).toEqual([{ id: 3, text: "Good" }]);
  });

  it("lowers its sound when speech goes on, and raises it after", async () => {
    const { t, device } = talk();
    t.connect("ws://x", { mic: false });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    const score = (v: number) => sockets[0]!.say({ type: "vad_score", vad_score_event: { vad_score: v } });
    const ducks = () => device.did.filter((d) => typeof d === "object" && "duck" in (d as object));
    score(0.9);
    await vi.advanceTimersByTimeAsync(32);
    score(0.9);
    expect(ducks()).toEqual([]);
    await vi.advanceTimersByTimeAsync(64);
    score(0.9);
    expect(ducks()).toEqual([{ duck: true }]);
    score(0.2);
    expect(ducks()).toEqual([{ duck: true }, { duck: false }]);
  });

  it("runs the page's tools, and says when one fails or does not exist", async () => {
    const { t } = talk();
    t.toolHandlers.show = (p) => ({ shown: p.what });
    t.toolHandlers.broken = () => {
      throw new Error("out of paper");
    };
    t.toolHandlers.slow = () => new Promise(() => {});
    t.connect("ws://x", { mic: false });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    for (const name of ["show", "broken", "toString", "slow"])
      sockets[0]!.say({
        type: "client_tool_call",
        client_tool_call: { tool_name: name, tool_call_id: name, parameters: { what: "map" } },
      });
    await vi.advanceTimersByTimeAsync(10_001);
    const results = sockets[0]!.sent.filter((m) => m.type === "client_tool_result");
    expect(results.map((m) => [m.tool_call_id, m.result, m.is_error])).toEqual([
      ["show", '{"shown":"map"}', false],
      ["broken", "out of paper", true],
      ["toString", "the page has no such tool", true],
      ["slow", "the page took too long", true],
    ]);
  });

  it("shows choices, sources, teammates and what the conversation's state is", async () => {
    const { t, device, of } = talk();
    t.connect("ws://x", { mic: false });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    const s = sockets[0]!;
    s.say({
      type: "rich_content",
      rich_content: { rich_content_id: "r", component: "choices", props: { choices: ["a", "b"] }, event_id: 2 },
    });
    s.say({
      type: "rich_content",
      rich_content: { rich_content_id: "r", component: "sources", props: { sources: [{ title: "T" }] }, event_id: 2 },
    });
    s.say({ type: "rich_content", rich_content: { rich_content_id: "r", component: "unknown", props: {} } });
    s.say({ type: "conversation_state", conversation_state_event: { state: "queued", position: 2 } });
    s.say({ type: "external_agent_connected", external_agent_connected_event: { name: "Ana" } });
    s.say({ type: "turn", turn_event: { seq: 4, author: "teammate", name: "Ana", text: "Hello" } });
    s.say({ type: "external_agent_disconnected" });
    s.onmessage?.({ data: "no JSON" });
    s.say({ type: "something_new" });
    expect(of("choices")).toEqual([{ id: 2, choices: ["a", "b"] }]);
    expect(of("sources")).toEqual([{ id: 2, sources: [{ title: "T" }] }]);
    expect(of("moved")).toEqual([{ state: "queued", position: 2 }]);
    expect(of("teammate")).toEqual([{ name: "Ana" }, undefined]);
    expect(of("turn")).toEqual([{ seq: 4, author: "teammate", name: "Ana", text: "Hello" }]);
    expect(device.did.filter((d) => typeof d === "object")).toEqual([{ live: true }, { live: false }]);
  });

  it("goes on over a new address when the connection is lost, and ends when the server says so", async () => {
    const { t, of } = talk();
    const asked: boolean[] = [];
    t.connect(
      async (again) => {
        asked.push(again);
        return "ws://x/" + asked.length;
      },
      { mic: false },
    );
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    sockets[0]!.lose(1012);
    expect(t.state).toBe("reconnecting");
    expect(t.sendText("lost")).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    sockets[1]!.open();
    sockets[0]!.say({
      type: "user_transcript",
      user_transcription_event: { user_transcript: "from the old connection" },
    });
    expect(asked).toEqual([false, true]);
    expect([t.state, of("heard")]).toEqual(["listening", []]);
    sockets[1]!.lose(1000);
    expect(of("closed")).toEqual([{ by: "server", code: 1000, reason: "" }]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets.length).toBe(2);
  });

  it("notices that a server that sent pings says nothing any more", async () => {
    const { t } = talk();
    t.connect(async () => "ws://x", { mic: false });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    sockets[0]!.say({ type: "ping", ping_event: { event_id: 1 } });
    await vi.advanceTimersByTimeAsync(36_000);
    expect(sockets.length).toBe(2);
  });

  it("gives up for good when it is refused, or after a minute", async () => {
    const { t, of } = talk();
    t.connect(
      async () => {
        throw Object.assign(new Error("no"), { final: true });
      },
      { mic: false },
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(of("closed")).toMatchObject([{ by: "refused" }]);
    const other = talk();
    other.t.connect(
      async () => {
        throw new Error("away");
      },
      { mic: true },
    );
    await vi.advanceTimersByTimeAsync(90_000);
    expect(other.of("closed")).toMatchObject([{ by: "lost" }]);
    expect(other.device.did.at(-1)).toBe("close");
  });

  it("gives the microphone back when it is not wanted, and everything at the end", async () => {
    const { t, device } = talk();
    t.connect("ws://x", { mic: true });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open();
    t.mute(true);
    expect([t.mic.muted, device.did.at(-1)]).toEqual([true, "mute true"]);
    await t.setMic(false);
    expect([t.mic.on, device.did.at(-1)]).toEqual([false, "silence"]);
    t.hangUp();
    expect(sockets[0]!.sent.at(-1)).toEqual({ type: "hang_up" });
    expect([sockets[0]!.closedWith, device.did.at(-1), t.state]).toEqual([1000, "close", "ended"]);
  });
});

describe("a talk whose browser understands speech", () => {
  class Own implements Ears {
    readonly offer = { local: true, lang: "en", track: true };
    onHypothesis: Ears["onHypothesis"] = () => {};
    onState: Ears["onState"] = () => {};
    did: string[] = [];
    start() {
      this.did.push("start");
    }
    stop() {
      this.did.push("stop");
    }
  }
  const began = async (hearing: string) => {
    const x = { ...talk(), ears: new Own() };
    x.t.connect(async () => "ws://x", { mic: true, ears: x.ears });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open("c1", hearing);
    return x;
  };
  const passed = (n = 0) => sockets[n]!.sent.filter((m) => /^user_(speech|hearing)$/.test(String(m.type)));

  it("offers it, and passes on what it understands, at the time of the sound", async () => {
    const { device, ears, of } = await began("browser");
    expect(sockets[0]!.sent[0]).toMatchObject({
      source_info: { source: "carillon", hearing: { by: "browser", local: true, lang: "en", track: true } },
    });
    expect(ears.did.at(-1)).toBe("start");
    ears.onState("on");
    device.onPiece(new Int16Array(640).buffer, 0.4);
    device.onPiece(new Int16Array(640).buffer, 0.4);
    ears.onHypothesis({ utterance: 3, text: "hello", final: false, confidence: 0.5 });
    sockets[0]!.bufferedAmount = 1 << 20; // the network takes nothing
    ears.onHypothesis({ utterance: 3, text: "hello there", final: false });
    ears.onHypothesis({ utterance: 3, text: "hello there", final: true });
    ears.onState("failed", "network");
    expect(passed()).toEqual([
      { type: "user_hearing", state: "on" },
      {
        type: "user_speech",
        user_speech_event: { utterance: 3, text: "hello", final: false, confidence: 0.5, at_ms: 80 },
      },
      { type: "user_speech", user_speech_event: { utterance: 3, text: "hello there", final: true, at_ms: 80 } },
      { type: "user_hearing", state: "failed", error: "network" },
    ]);
    expect(of("hearing")).toEqual([
      { by: "browser" },
      { by: "browser", state: "on", error: undefined },
      { by: "browser", state: "failed", error: "network" },
    ]);
  });

  it("follows the microphone", async () => {
    const { t, ears } = await began("browser");
    ears.did = [];
    t.mute(true);
    t.mute(false);
    await t.setMic(false);
    t.hangUp();
    expect(ears.did.slice(0, 3)).toEqual(["stop", "start", "stop"]);
    expect(ears.did.slice(3)).not.toContain("start");
  });

  it("does not understand what the server does", async () => {
    for (const by of ["server", "none"]) {
      sockets = [];
      const { ears } = await began(by);
      expect(ears.did).not.toContain("start");
    }
  });

  it("says again that it understands after a new connection, whose sound begins anew", async () => {
    const { device, ears } = await began("browser");
    ears.onState("on");
    device.onPiece(new Int16Array(640).buffer, 0.4);
    sockets[0]!.lose(1006);
    ears.onHypothesis({ utterance: 0, text: "lost", final: true });
    await vi.advanceTimersByTimeAsync(1000);
    sockets[1]!.open("c1", "browser");
    ears.onHypothesis({ utterance: 1, text: "there", final: true });
    expect(passed(1)).toEqual([
      { type: "user_hearing", state: "on" },
      { type: "user_speech", user_speech_event: { utterance: 1, text: "there", final: true, at_ms: 0 } },
    ]);
  });

  it("leaves the microphone to ears that cannot share it, and says itself when somebody speaks", async () => {
    const x = { ...talk(), ears: Object.assign(new Own(), { alone: true }) };
    x.t.connect("ws://x", { mic: true, ears: x.ears });
    await vi.advanceTimersByTimeAsync(0);
    sockets[0]!.open("c1", "browser");
    expect(x.device.did).not.toContain("listen");
    expect([x.t.mic.on, x.ears.did.at(-1)]).toEqual([true, "start"]);
    await vi.advanceTimersByTimeAsync(250);
    (x.ears as Ears).onSpeech!(true);
    x.ears.onHypothesis({ utterance: 0, text: "hello", final: true });
    (x.ears as Ears).onSpeech!(false);
    expect(sockets[0]!.sent.slice(1)).toEqual([
      { type: "user_vad", speech: true, at_ms: 250 },
      { type: "user_speech", user_speech_event: { utterance: 0, text: "hello", final: true, at_ms: 250 } },
      { type: "user_vad", speech: false, at_ms: 250 },
    ]);
    x.device.onProgress(progress({ playing: true })); // it would hear what is played
    expect(x.ears.did.at(-1)).toBe("stop");
    x.device.onProgress(progress({}));
    await vi.advanceTimersByTimeAsync(300);
    expect(x.ears.did.at(-1)).toBe("start");
    sockets[0]!.say({ type: "external_agent_connected", external_agent_connected_event: { name: "Ana" } });
    expect([x.ears.did.at(-1), x.device.did.includes("listen")]).toEqual(["stop", true]); // a teammate needs the sound
    sockets[0]!.say({ type: "external_agent_disconnected" });
    expect([x.ears.did.at(-1), x.device.did.includes("silence")]).toEqual(["start", true]);
  });
});
