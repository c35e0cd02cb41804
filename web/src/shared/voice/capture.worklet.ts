// Runs beside the page's own code, on the thread of the sound: what the microphone gives, as pieces of 40 ms at 16 kHz.
import { Resampler } from "./resample";

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, type: new () => AudioWorkletProcessor): void;
declare const sampleRate: number;

const rate = 16000;
const piece = rate / 25;

class Capture extends AudioWorkletProcessor {
  private readonly resampler = new Resampler(sampleRate, rate);
  private pcm = new Int16Array(piece);
  private filled = 0;
  private energy = 0;
  private open = true;

  constructor() {
    super();
    this.port.onmessage = () => {
      this.open = false;
    };
  }

  process(inputs: Float32Array[][]): boolean {
    const samples = inputs[0]?.[0];
    if (!samples) return this.open;
    for (const x of this.resampler.process(samples)) {
      const bounded = Math.max(-1, Math.min(1, x));
      this.energy += bounded * bounded;
      this.pcm[this.filled++] = Math.round(bounded * 32767);
      if (this.filled < piece) continue;
      this.port.postMessage({ pcm: this.pcm.buffer, level: Math.sqrt(this.energy / piece) }, [this.pcm.buffer]);
      this.pcm = new Int16Array(piece);
      this.filled = this.energy = 0;
    }
    return this.open;
  }
}

registerProcessor("carillon-capture", Capture);
