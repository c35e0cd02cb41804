// What the tests of voice widgets have in common: an agent that understands what the bank knows, a widget, pages with a microphone.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { context, launch, ready, site } from "./browser.mjs";
import { ask, browser, call } from "./world.mjs";
import { opening } from "./widgets.mjs";

export const rate = 16000;

let services;
/** bank is the address of the services that understand what they were told of before. */
const bank = () => (services ??= ask("speech"));

/** utterance has the bank know a sentence, and returns its samples. */
export async function utterance(text, language = "en") {
  const r = await fetch((await bank()) + "/bank", { method: "POST", body: JSON.stringify({ text, language }) });
  assert.ok(r.ok, "the bank: " + r.status);
  const wav = Buffer.from(await r.arrayBuffer());
  return samplesOf(wav.subarray(wav.indexOf("data") + 8));
}

export const heard = async () => (await fetch((await bank()) + "/heard")).json();

export function samplesOf(buffer) {
  const all = new Int16Array(buffer.length >> 1);
  for (let i = 0; i < all.length; i++) all[i] = buffer.readInt16LE(2 * i);
  return all;
}

export const bytesOf = (pcm) => Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
export const silence = (ms) => new Int16Array((rate * ms) / 1000);
export function joined(...all) {
  const pcm = new Int16Array(all.reduce((n, x) => n + x.length, 0));
  let at = 0;
  for (const x of all) {
    pcm.set(x, at);
    at += x.length;
  }
  return pcm;
}

/** wav keeps samples in a file, for the microphone of a browser. */
export async function wav(name, pcm) {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + 2 * pcm.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(2 * pcm.length, 40);
  const file = join(tmpdir(), `carillon-${process.pid}-${name}.wav`);
  await writeFile(file, Buffer.concat([head, bytesOf(pcm)]));
  return file;
}

/** likeness is how alike the waveform of a is to the part of b that is most like it, -1 to 1. */
export function likeness(a, b) {
  const step = 8;
  const at = (shift, by) => {
    let product = 0;
    let x2 = 0;
    let y2 = 0;
    for (let i = 0; i < a.length; i += by) {
      const x = a[i];
      const y = b[i + shift] ?? 0;
      product += x * y;
      x2 += x * x;
      y2 += y * y;
    }
    return x2 && y2 ? product / Math.sqrt(x2 * y2) : 0;
  };
  let best = -1;
  let where = 0;
  for (let shift = -rate / 4; shift <= Math.max(rate / 2, b.length - a.length + rate / 4); shift += 2) {
    const c = at(shift, step);
    if (c > best) {
      best = c;
      where = shift;
    }
  }
  for (let shift = where - 4; shift <= where + 4; shift++) best = Math.max(best, at(shift, 1));
  return best;
}

/** talker makes an agent that understands what the bank knows, and a widget. */
export async function talker({ token }, more = {}) {
  const { data } = await call("GET", "/panel/v1/knowledge", token);
  const agent = await call("POST", "/panel/v1/agents", token, {
    name: "Marina",
    language: "en",
    engine: "builtin",
    greeting: "Hello, this is Harbour Tours. What can I do for you?",
    knowledge: data.map((k) => k.id),
    tools: ["search", "handoff", "hang_up"],
    voice: {
      speaker: "espeak",
      speed: 1,
      silence_ms: 600,
      transcriber: "openai",
      transcriber_service: { base_url: (await bank()) + "/v1", model: "test-voice", api_key: "sk-voice-test" },
    },
    client_tools: [{ name: "show_map", description: "Shows the map of the harbour", phrases: ["show me the map"] }],
    ...more.agent,
  });
  const widget = await call("POST", "/panel/v1/widgets", token, {
    kind: "voice",
    name: "Voice of " + agent.name,
    agent: agent.id,
    welcome: "Ask us about tours.",
    language: "en",
    appearance: { primary_color: "#0b6e4f" },
    ...more.widget,
  });
  return { agent, widget };
}

/** microphone is a browser whose microphone gives a file, once, from when it is opened. */
export const microphone = (file) =>
  launch("--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${file}%noloop`);

/**
 * instrument records, in each frame, what the worklets get and give; and gives a microphone that says what a test has it say: in place of the
 * silence that the worklet captures, so that nothing is lost where the machine cannot keep up with sound. real: through the worklet.
 */
export function instrument(o) {
  const seen = (globalThis.voiceSeen = {
    played: [],
    flushes: [],
    ducks: [],
    captured: [],
    asked: 0,
    open: 0,
    constraints: undefined,
  });
  let words = []; // what is still to be said
  let tracks = [];
  /** spoken is a piece of what is to be said, as long as the one that was captured. */
  const spoken = (piece) => {
    if (words.length === 0 || tracks.some((track) => !track.enabled)) return piece;
    const pcm = new Int16Array(piece.pcm.byteLength / 2);
    pcm.set(words.splice(0, pcm.length));
    return { pcm: pcm.buffer, level: Math.sqrt(pcm.reduce((sum, x) => sum + (x / 32768) ** 2, 0) / pcm.length) };
  };
  const Node = globalThis.AudioWorkletNode;
  if (Node) {
    globalThis.AudioWorkletNode = class extends Node {
      constructor(audio, name, options) {
        super(audio, name, options);
        if (name === "carillon-playback") {
          const post = this.port.postMessage.bind(this.port);
          this.port.postMessage = (m, transfer) => {
            const at = performance.now();
            if (m.pcm) seen.played.push({ at, id: m.id, pcm: [...new Int16Array(m.pcm)] });
            if (m.flush) seen.flushes.push(at);
            if ("duck" in m) seen.ducks.push({ at, on: m.duck });
            post(m, transfer);
          };
        }
        if (name === "carillon-capture") {
          let listener;
          Object.defineProperty(this.port, "onmessage", {
            get: () => listener,
            set: (f) => {
              listener = f;
            },
          });
          this.port.addEventListener("message", (e) => {
            const data = o?.script && !o.real ? spoken(e.data) : e.data;
            seen.captured.push({ at: performance.now(), level: data.level, samples: data.pcm.byteLength / 2 });
            listener?.(new MessageEvent("message", { data }));
          });
          this.port.start();
        }
      }
    };
  }
  if (o?.rate && globalThis.AudioContext) {
    const Context = globalThis.AudioContext;
    globalThis.AudioContext = class extends Context {
      constructor(options) {
        super({ ...options, sampleRate: o.rate });
      }
    };
  }
  const devices = navigator.mediaDevices;
  if (!devices) return;
  if (o?.bare) devices.getSupportedConstraints = () => ({ deviceId: true, echoCancellation: true });
  const real = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (constraints) => {
    seen.asked++;
    seen.constraints = constraints;
    if (o?.refuse) throw new DOMException("no", o.refuse);
    let stream;
    if (o?.script) {
      const audio = new AudioContext({ sampleRate: 48000 });
      const to = audio.createMediaStreamDestination();
      const source = audio.createConstantSource();
      source.offset.value = 0;
      source.connect(to);
      source.start();
      globalThis.utter = (pcm) => {
        if (!o.real) {
          words.push(...pcm);
          return performance.now();
        }
        const buffer = audio.createBuffer(1, pcm.length, 16000);
        buffer.copyToChannel(
          Float32Array.from(pcm, (x) => x / 32768),
          0,
        );
        const node = audio.createBufferSource();
        node.buffer = buffer;
        node.connect(to);
        node.start();
        return performance.now();
      };
      stream = to.stream;
    } else {
      // The browser's noise suppression changes what a machine says; it is asked for, and left out where waveforms are compared.
      stream = await real(
        o?.raw ? { audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false } } : constraints,
      );
    }
    tracks = stream.getTracks();
    seen.open++;
    for (const track of stream.getTracks()) {
      const stop = track.stop.bind(track);
      track.stop = () => {
        seen.open--;
        stop();
      };
    }
    return stream;
  };
}

/** strict is the policy of a site that allows nothing but the widget. */
/** sentBy is a message of the page; a binary one is sound, given as the message that it stands for. */
const sentBy = (payload) =>
  typeof payload === "string" ? JSON.parse(payload) : { user_audio_chunk: payload.toString("base64") };

/** gotBy is a message of the server, by the same rule. */
const gotBy = (payload) =>
  typeof payload === "string"
    ? JSON.parse(payload)
    : {
        type: "audio",
        audio_event: { event_id: payload.readUInt32LE(0), audio_base_64: payload.subarray(4).toString("base64") },
      };

const strict = `default-src 'none'; script-src 'nonce-abc' ${new URL(ready.widget_url).origin}; connect-src ${new URL(ready.widget_url).origin}; frame-src ${new URL(ready.widget_url).origin}; base-uri 'none'; form-action 'none'`;

/** talkOn opens a page of another site with a voice widget of a company, and returns its frame. */
export async function talkOn(t, company, widget, o = {}) {
  const policy = o.policy ?? strict;
  const host = await site(
    "shop",
    `<!doctype html><html lang="${o.lang ?? "en"}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><title>Shop</title><meta name="viewport" content="width=device-width, initial-scale=1"></head><body><h1>Shop</h1>${o.body ?? ""}
    <script nonce="abc">window.carillonVoice = function () { (carillonVoice.q = carillonVoice.q || []).push(arguments) }; window.tools = []; carillonVoice("tool", "show_map", function (p) { tools.push(p); return "The map is open"; });</script>
    <script async src="${ready.widget_url}/embed/voice.js" widget="${widget.id}" customer="${company.access_key}" ${o.attributes ?? ""}></script></body></html>`,
  );
  t.after(() => host.close());
  const c = await context(o.browser ?? browser, { locale: "en-GB", ...o.options });
  t.after(() => c.close());
  if (o.permissions !== false) await c.grantPermissions(["microphone"]);
  await c.addInitScript(instrument, o.microphone ?? {});
  const p = await c.newPage();
  const logged = [];
  p.on("console", (m) => {
    if (m.type() === "error" && !/favicon/.test(m.location().url)) logged.push(m.text());
  });
  const sockets = [];
  p.on("websocket", (s) => {
    const one = { url: s.url(), sent: [], got: [], closed: false };
    sockets.push(one);
    s.on("framesent", (f) => one.sent.push({ at: performance.now(), m: sentBy(f.payload) }));
    s.on("framereceived", (f) => one.got.push({ at: performance.now(), m: gotBy(f.payload) }));
    s.on("close", () => {
      one.closed = true;
    });
  });
  await p.goto(host.url);
  await p.waitForFunction(() => globalThis.carillonVoice?.on);
  const loaded = opening(p, "vw_id=");
  await p.waitForFunction(() => {
    globalThis.carillonVoice("open");
    return document.activeElement !== document.body;
  });
  const frame = await loaded;
  await frame.getByRole("heading", { level: 1 }).waitFor();
  const state = (word) => frame.locator(".state", { hasText: word }).waitFor();
  const seen = (f, x) => frame.evaluate(f, x);
  return { c, p, frame, sockets, logged, state, seen };
}

/** played is what the playback worklet got of a response, in order. */
export async function played(frame, id) {
  const all = await frame.evaluate(
    (n) => globalThis.voiceSeen.played.filter((x) => n === undefined || x.id === n).map((x) => x.pcm),
    id,
  );
  return joined(...all.map((x) => Int16Array.from(x)));
}

/** bytesASecond is the rate of pieces of 1,280 bytes at these times: the median over windows of three seconds, for a machine under load falters. */
export function bytesASecond(times) {
  const rates = [];
  for (let i = 75; i < times.length; i++) rates.push((75 * 1280) / ((times[i] - times[i - 75]) / 1000));
  return rates.sort((a, b) => a - b)[rates.length >> 1];
}
