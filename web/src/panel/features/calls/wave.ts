// The shape of a recording: how loud each side is along its length, read from a WAV file while it arrives.

export interface Wave {
  lanes: Float32Array[]; // peaks of each channel: the other side and ours; of older recordings one, both mixed
  known: number; // how many of the peaks have arrived
}

const header = 44;
const channelsAt = 22; // in the header

/** WaveReader takes the bytes of a WAV file with 16 bits a sample, in pieces of any length. */
export class WaveReader {
  lanes: Float32Array[] = [];
  private at = 0; // bytes of the file
  private odd = -1; // the first byte of a sample whose second has not arrived

  constructor(
    private readonly size: number,
    private readonly count: number,
  ) {}

  /** per is how many samples a peak has, in all channels. */
  private get per(): number {
    const channels = Math.max(1, this.lanes.length);
    return Math.max(1, Math.ceil(Math.max(0, this.size - header) / 2 / channels / this.count)) * channels;
  }

  /** known is how many peaks have begun to arrive. */
  get known(): number {
    return Math.min(this.count, Math.ceil(Math.max(0, this.at - header) / 2 / this.per));
  }

  add(piece: Uint8Array): void {
    const per = this.per;
    for (let n = 0; n < piece.length; n++) {
      const b = piece[n]!;
      const i = this.at++;
      if (i === channelsAt) {
        this.lanes = Array.from({ length: b === 2 ? 2 : 1 }, () => new Float32Array(this.count));
        this.add(piece.subarray(n + 1)); // a peak has another number of samples now
        return;
      }
      if (i < header) continue;
      if (this.odd < 0) {
        this.odd = b;
        continue;
      }
      const sample = ((this.odd | (b << 8)) << 16) >> 16;
      this.odd = -1;
      const index = (i - header - 1) / 2;
      const lane = this.lanes[index % this.lanes.length]!;
      const peak = Math.floor(index / per);
      const loud = Math.abs(sample) / 32768;
      if (peak < lane.length && loud > lane[peak]!) lane[peak] = loud;
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
      drawn({ lanes: reader.lanes, known: reader.known });
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
