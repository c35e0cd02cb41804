// Runs beside the page's own code, on the thread of the sound: plays what comes at 16 kHz at the rate of the device.
import { Playout } from "./playout";
import { Resampler } from "./resample";

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, type: new () => AudioWorkletProcessor): void;
declare const sampleRate: number;

/** What the page says to the worklet. */
export type PlaybackMessage =
  | { pcm: ArrayBuffer; id: number }
  | { flush: true }
  | { duck: boolean }
  | { mute: boolean }
  | { live: boolean }
  | { stop: true };

const rate = 16000;
const every = 0.05; // seconds between two reports

class Playback extends AudioWorkletProcessor {
  private readonly playout = new Playout(rate);
  private readonly resampler = new Resampler(rate, sampleRate);
  private readonly block = new Float32Array(64);
  private ready = new Float32Array(0);
  private since = 0;
  private silent = false; // what was reported last
  private open = true;

  constructor() {
    super();
    this.port.onmessage = (e: MessageEvent<PlaybackMessage>) => this.receive(e.data);
  }

  private receive(m: PlaybackMessage): void {
    if ("pcm" in m) this.playout.push(new Int16Array(m.pcm), m.id);
    else if ("flush" in m) this.playout.flush();
    else if ("duck" in m) this.playout.duck(m.duck);
    else if ("mute" in m) this.playout.mute(m.mute);
    else if ("live" in m) this.playout.live = m.live;
    else this.open = false;
  }

  process(_: Float32Array[][], outputs: Float32Array[][]): boolean {
    const channels = outputs[0]!;
    const wanted = channels[0]!.length;
    while (this.ready.length < wanted) {
      this.playout.pull(this.block);
      const more = this.resampler.process(this.block);
      const joined = new Float32Array(this.ready.length + more.length);
      joined.set(this.ready);
      joined.set(more, this.ready.length);
      this.ready = joined;
    }
    for (const channel of channels) channel.set(this.ready.subarray(0, wanted));
    this.ready = this.ready.slice(wanted);
    this.since += wanted;
    if (this.since >= every * sampleRate) {
      this.since = 0;
      const p = this.playout.progress();
      if (p.playing || !this.silent) this.port.postMessage(p);
      this.silent = !p.playing && p.level < 1e-3;
    }
    return this.open;
  }
}

registerProcessor("carillon-playback", Playback);
