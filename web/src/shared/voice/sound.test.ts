import { describe, expect, it } from "vitest";
import { Playout } from "./playout";
import { Resampler } from "./resample";

const tone = (rate: number, hz: number, seconds: number) =>
  Float32Array.from({ length: Math.round(rate * seconds) }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hz * i) / rate));
const rms = (x: Float32Array) => Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / x.length);
const db = (ratio: number) => 20 * Math.log10(ratio);

/** convert gives a resampler its input in pieces. */
function convert(from: number, to: number, input: Float32Array, piece: number): Float32Array {
  const r = new Resampler(from, to);
  const out: number[] = [];
  for (let at = 0; at < input.length; at += piece) out.push(...r.process(input.subarray(at, at + piece)));
  return Float32Array.from(out);
}

describe("the resampler", () => {
  it.each([
    [48000, 16000],
    [44100, 16000],
    [16000, 48000],
    [16000, 44100],
  ])("from %d to %d keeps what is below 6 kHz, in level and in time", (from, to) => {
    for (const hz of [100, 1000, 3400, 6000]) {
      const out = convert(from, to, tone(from, hz, 0.5), 128);
      const want = tone(to, hz, 0.5);
      let worst = 0;
      for (let i = 400; i < out.length - 400; i++) worst = Math.max(worst, Math.abs(out[i]! - want[i]!));
      expect(worst, hz + " Hz").toBeLessThan(0.004);
    }
  });
  it.each([48000, 44100])("from %d lets nothing of what 16 kHz cannot carry through", (from) => {
    for (const hz of [9000, 10000, 12000, 15500, 20000]) {
      const out = convert(from, 16000, tone(from, hz, 0.5), 128).slice(200, -200);
      expect(db(rms(out) / 0.3535), hz + " Hz").toBeLessThan(-65);
    }
  });
  it("gives the same whatever the size of the pieces, and as many samples as time passes", () => {
    const input = tone(44100, 700, 1);
    const whole = convert(44100, 16000, input, input.length);
    for (const piece of [1, 7, 128, 1000]) {
      const out = convert(44100, 16000, input, piece);
      expect(Math.abs(out.length - whole.length)).toBeLessThan(2);
      for (let i = 0; i < Math.min(out.length, whole.length); i++)
        if (Math.abs(out[i]! - whole[i]!) > 1e-5) expect.fail(`piece ${piece}, sample ${i}`);
    }
    expect(whole.length).toBeGreaterThan(15960);
    expect(whole.length).toBeLessThanOrEqual(16000);
  });
  it("copies where the rates are the same", () => {
    expect([...new Resampler(16000, 16000).process(Float32Array.of(0.1, 0.2))]).toEqual([...Float32Array.of(0.1, 0.2)]);
  });
});

const ms = 16;
const speech = (length: number, amplitude = 8000) =>
  Int16Array.from({ length: length * ms }, (_, i) => Math.round(amplitude * Math.sin(i / 5)));
const silence = (length: number) => new Int16Array(length * ms);
/** play pulls milliseconds in pieces of 4. */
function play(p: Playout, length: number): Float32Array {
  const out = new Float32Array(length * ms);
  for (let at = 0; at < out.length; at += 64) p.pull(out.subarray(at, at + 64));
  return out;
}
const from = (x: Float32Array) => x.findIndex((v) => Math.abs(v) > 1e-3) / ms;

describe("the playout buffer", () => {
  it("waits for 80 ms before it plays, and plays them unchanged", () => {
    const p = new Playout();
    p.push(speech(40), 1);
    expect(rms(play(p, 20))).toBe(0);
    p.push(speech(40), 1);
    const out = play(p, 80);
    expect(from(out)).toBeLessThan(1);
    expect(out[100]).toBeCloseTo(Math.round(8000 * Math.sin(100 / 5)) / 32768, 4);
    expect(p.progress()).toMatchObject({ id: 1, played: 80, buffered: 0, underruns: 0, trimmed: 0 });
  });
  it("does not wait for more than comes", () => {
    const p = new Playout();
    p.push(speech(30), 1);
    expect(rms(play(p, 160))).toBeGreaterThan(0.01);
    expect(p.progress()).toMatchObject({ played: 30, playing: false });
  });
  it("counts where it broke off in the middle, and then waits longer", () => {
    const p = new Playout();
    p.push(speech(100), 1);
    play(p, 160);
    p.push(speech(90), 1);
    expect(p.progress().underruns).toBe(1);
    expect(rms(play(p, 8))).toBe(0);
    p.push(speech(20), 1);
    expect(from(play(p, 20))).toBeLessThan(5);
  });
  it("counts a longer stall, but not a pause of the speaker", () => {
    const p = new Playout();
    p.push(speech(100), 1);
    play(p, 100 + 900);
    p.push(speech(100), 1);
    expect(p.progress().underruns).toBe(1);
    play(p, 100 + 1300);
    p.push(speech(100), 1);
    expect(p.progress().underruns).toBe(1);
  });
  it("does not count the end of a response as one", () => {
    const p = new Playout();
    p.push(speech(100), 1);
    play(p, 160);
    p.push(speech(100), 2);
    expect(p.progress().underruns).toBe(0);
  });
  it("ends without a click where it breaks off", () => {
    const p = new Playout();
    p.push(new Int16Array(100 * ms).fill(8000), 1);
    const out = play(p, 120);
    let step = 0;
    for (let i = 200; i < out.length; i++) step = Math.max(step, Math.abs(out[i]! - out[i - 1]!));
    expect(step).toBeLessThan(0.03);
    expect(out[out.length - 1]).toBe(0);
  });
  it("says of which response how much has been played", () => {
    const p = new Playout();
    p.push(speech(100), 7);
    p.push(speech(100), 8);
    play(p, 60);
    expect(p.progress()).toMatchObject({ id: 7, played: 60, buffered: 140 });
    play(p, 60);
    expect(p.progress()).toMatchObject({ id: 8, played: 20 });
  });
  it("is silent 10 ms after a flush, with a fade, and plays what comes then", () => {
    const p = new Playout();
    p.push(speech(2000), 1);
    play(p, 200);
    p.flush();
    const out = play(p, 60);
    expect(rms(out.slice(0, 5 * ms))).toBeGreaterThan(0.02);
    expect(rms(out.slice(12 * ms))).toBe(0);
    p.push(speech(100), 2);
    expect(rms(play(p, 50))).toBeGreaterThan(0.05);
    expect(p.progress().underruns).toBe(0);
  });
  it("plays at 30 % while it is ducked, and changes without a jump", () => {
    const p = new Playout();
    p.push(speech(1000), 1);
    const before = rms(play(p, 200));
    p.duck(true);
    play(p, 100);
    expect(rms(play(p, 100)) / before).toBeCloseTo(0.3, 1);
    p.duck(false);
    play(p, 100);
    expect(rms(play(p, 100)) / before).toBeCloseTo(1, 1);
  });
  it("never leaves out anything of a synthesised voice", () => {
    const p = new Playout();
    p.push(speech(3000), 1);
    p.push(silence(3000), 1);
    play(p, 6000);
    expect(p.progress()).toMatchObject({ played: 6000, trimmed: 0 });
  });
  it("keeps a live voice close: pauses first, speech gently", () => {
    const p = new Playout();
    p.live = true;
    p.push(speech(100), 1);
    p.push(silence(500), 1);
    play(p, 120);
    expect(p.progress().buffered).toBeLessThanOrEqual(250);
    expect(p.progress().trimmed).toBeGreaterThan(200);
    const q = new Playout();
    q.live = true;
    q.push(speech(1000), 1);
    const out = play(q, 500);
    let step = 0;
    for (let i = 1; i < out.length; i++) step = Math.max(step, Math.abs(out[i]! - out[i - 1]!));
    expect(step, "steps no larger than those of the sound").toBeLessThan(0.1);
    expect(q.progress().buffered).toBeLessThan(400);
    expect(q.progress().trimmed).toBeGreaterThan(100);
  });
});
