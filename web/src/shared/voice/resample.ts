// Conversion between sample rates. No DOM: it runs in worklets.

const zeros = 24; // crossings of zero on either side of the kernel's middle
const fine = 128; // kernel values between two input samples
const beta = 8; // of the Kaiser window: about 80 dB of stop band

/** Resampler converts a stream of samples from one rate to another with a windowed sinc. Pieces may have any size. */
export class Resampler {
  private readonly step: number;
  private readonly half: number;
  private readonly kernel: Float32Array;
  private kept: Float32Array;
  private at: number; // of the next output sample, in kept

  constructor(
    private readonly from: number,
    private readonly to: number,
  ) {
    this.step = from / to;
    const cutoff = Math.min(1, to / from) * 0.93;
    this.half = Math.ceil(zeros / cutoff);
    this.kernel = new Float32Array(this.half * fine + 2);
    for (let i = 0; i <= this.half * fine; i++) {
      const t = i / fine;
      this.kernel[i] = cutoff * sinc(cutoff * t) * kaiser(t / this.half);
    }
    this.kept = new Float32Array(this.half);
    this.at = this.half;
  }

  /** process returns the output samples that the input so far determines. */
  process(input: Float32Array): Float32Array {
    if (this.from === this.to) return input.slice();
    const all = new Float32Array(this.kept.length + input.length);
    all.set(this.kept);
    all.set(input, this.kept.length);
    const last = all.length - 1 - this.half;
    const count = Math.max(0, Math.floor((last - this.at) / this.step) + 1);
    const out = new Float32Array(count);
    for (let n = 0; n < count; n++) out[n] = this.sample(all, this.at + n * this.step);
    this.at += count * this.step;
    const drop = Math.max(0, Math.min(all.length, Math.floor(this.at) - this.half));
    this.kept = all.slice(drop);
    this.at -= drop;
    return out;
  }

  private sample(all: Float32Array, at: number): number {
    const first = Math.max(0, Math.ceil(at - this.half));
    const end = Math.min(all.length - 1, Math.floor(at + this.half));
    let sum = 0;
    for (let k = first; k <= end; k++) {
      const t = Math.abs(at - k) * fine;
      const i = t | 0;
      const low = this.kernel[i]!;
      sum += all[k]! * (low + (this.kernel[i + 1]! - low) * (t - i));
    }
    return sum;
  }
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** kaiser is the Kaiser window at x, -1 to 1. */
function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel(beta * Math.sqrt(1 - x * x)) / bessel(beta);
}

/** bessel is the modified Bessel function of order 0. */
function bessel(x: number): number {
  let sum = 1;
  for (let term = 1, k = 1; term > sum * 1e-12; k++) sum += term *= (x / (2 * k)) ** 2;
  return sum;
}
