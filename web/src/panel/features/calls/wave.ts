// The shape of a recording: how loud it is along its length, read from a WAV file while it arrives.

export interface Wave {
  peaks: Float32Array;
  known: number;
} // known: how many of the peaks have arrived

const header = 44;

/** WaveReader takes the bytes of a WAV file with 16 bits a sample, in pieces of any length. */
export class WaveReader {
  readonly peaks: Float32Array;
  private readonly per: number; // samples a peak
  private at = 0; // bytes of the file
  private odd = -1; // the first byte of a sample whose second has not arrived

  constructor(size: number, count: number) {
    this.peaks = new Float32Array(count);
    this.per = Math.max(1, Math.ceil(Math.max(0, size - header) / 2 / count));
  }

  /** known is how many peaks have begun to arrive. */
  get known(): number {
    return Math.min(this.peaks.length, Math.ceil(Math.max(0, this.at - header) / 2 / this.per));
  }

  add(piece: Uint8Array): void {
    for (const b of piece) {
      const i = this.at++;
      if (i < header) continue;
      if (this.odd < 0) {
        this.odd = b;
        continue;
      }
      const sample = ((this.odd | (b << 8)) << 16) >> 16;
      this.odd = -1;
      const peak = Math.floor((i - header) / 2 / this.per);
      const loud = Math.abs(sample) / 32768;
      if (peak < this.peaks.length && loud > this.peaks[peak]!) this.peaks[peak] = loud;
    }
  }
}

/** readWave reads the shape of a recording; drawn is called when there is more of it. */
export async function readWave(
  address: string,
  count: number,
  signal: AbortSignal,
  drawn: (w: Wave) => void,
): Promise<void> {
  const r = await fetch(address, { headers: { "X-Carillon-Panel": "1" }, credentials: "same-origin", signal });
  if (!r.ok || !r.body) throw new Error("no recording");
  const reader = new WaveReader(Number(r.headers.get("Content-Length") ?? 0), count);
  const stream = r.body.getReader();
  for (let last = 0; ;) {
    const { done, value } = await stream.read();
    if (value) reader.add(value);
    if (done || Date.now() - last > 100) {
      last = Date.now();
      drawn({ peaks: reader.peaks, known: reader.known });
    }
    if (done) return;
  }
}

/** playing is which turn is said at an instant of the recording; -1: none yet. */
export function playing(turns: { offset_ms?: number }[], seconds: number): number {
  let at = -1;
  turns.forEach((t, i) => {
    if (
      t.offset_ms !== undefined &&
      t.offset_ms <= seconds * 1000 + 60 &&
      (at < 0 || t.offset_ms >= turns[at]!.offset_ms!)
    )
      at = i;
  });
  return at;
}
