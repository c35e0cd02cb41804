// The buffer between what the network brings and what is played. No DOM and no clock: time is the samples that are pulled.

/** Progress is how far playing has come. */
export interface Progress {
  /** Of the response that is playing, or was last. */
  id: number;
  /** Milliseconds of that response that have been played. */
  played: number;
  /** Milliseconds that wait. */
  buffered: number;
  playing: boolean;
  /** How loud the last samples were, 0 to 1. */
  level: number;
  /** How often the sound broke off for want of samples. */
  underruns: number;
  /** Milliseconds that were left out to catch up. */
  trimmed: number;
}

const brokeOff = 1000; // milliseconds: a longer gap in a response is a pause of the speaker
const quiet = 0.003; // amplitude below which a block can be left out unnoticed

export class Playout {
  /** A live voice is kept close to real time by leaving out samples; a synthesised one is played whole. */
  live = false;
  private data = new Float32Array(1 << 14);
  private start = 0;
  private end = 0;
  private parts: { id: number; left: number }[] = [];
  private playing = false;
  private waited = 0; // samples pulled since the first sample that waits came
  private idle = Infinity; // samples pulled since playing stopped
  private steady = 0; // samples played since the last underrun
  private target: number;
  private sinceTrim = 0;
  private gain = 1;
  private aim = 1;
  private volume = 1;
  private tail = 0;
  private id = 0;
  private played = 0;
  private level = 0;
  private underruns = 0;
  private trimmed = 0;

  constructor(private readonly rate = 16000) {
    this.target = this.ms(80);
  }

  private ms(n: number): number {
    return Math.round((n * this.rate) / 1000);
  }
  get length(): number {
    return this.end - this.start;
  }

  push(pcm: Int16Array, id: number): void {
    if (!pcm.length) return;
    if (!this.playing && this.idle < this.ms(brokeOff) && id === this.id) {
      // it broke off in the middle
      this.underruns++;
      this.steady = 0;
      this.target = Math.min(this.ms(100), this.target + this.ms(20));
      this.idle = Infinity;
    }
    this.room(pcm.length);
    for (let i = 0; i < pcm.length; i++) this.data[this.end++] = pcm[i]! / 32768;
    const last = this.parts[this.parts.length - 1];
    if (last?.id === id) last.left += pcm.length;
    else this.parts.push({ id, left: pcm.length });
  }

  /** pull fills out with what is to be played now. */
  pull(out: Float32Array): void {
    out.fill(0);
    if (!this.playing && this.length) {
      this.waited += out.length;
      // What is shorter than the target is not followed by more.
      if (this.length >= this.target || this.waited > this.target) {
        this.playing = true;
        this.waited = 0;
      }
    }
    let from = 0;
    if (this.playing) {
      if (this.live) this.catchUp();
      from = Math.min(out.length, this.length);
      out.set(this.data.subarray(this.start, this.start + from));
      this.advance(from);
      if (from) this.tail = out[from - 1]!;
      this.steady += from;
      if (this.steady > 30 * this.rate) {
        this.steady = 0;
        this.target = Math.max(this.ms(60), this.target - this.ms(10));
      }
      if (!this.length && from < out.length) {
        this.playing = false;
        this.idle = 0;
      }
    } else {
      this.idle += out.length;
    }
    for (let i = from; i < out.length && this.tail !== 0; i++) {
      // no click where it breaks off
      this.tail *= 0.9;
      if (Math.abs(this.tail) < 1e-4) this.tail = 0;
      out[i] = this.tail;
    }
    let sum = 0;
    for (let i = 0; i < out.length; i++) {
      this.gain += (this.aim * this.volume - this.gain) * (1 / (0.012 * this.rate));
      out[i]! *= this.gain;
      sum += out[i]! * out[i]!;
    }
    this.level = Math.max(Math.sqrt(sum / Math.max(1, out.length)), this.level * 0.9);
  }

  /** flush drops what waits; what is playing fades in 10 ms. */
  flush(): void {
    const rest = this.playing ? Math.min(this.length, this.ms(10)) : 0;
    for (let i = 0; i < rest; i++) this.data[this.start + i]! *= 1 - (i + 1) / rest;
    this.end = this.start + rest;
    const first = this.parts[0];
    this.parts = rest && first ? [{ id: first.id, left: rest }] : [];
    this.waited = 0;
    this.idle = Infinity;
  }

  /** duck plays softly while the person seems to be speaking. */
  duck(on: boolean): void {
    this.aim = on ? 0.3 : 1;
  }

  /** mute plays on without being heard. */
  mute(on: boolean): void {
    this.volume = on ? 0 : 1;
  }

  progress(): Progress {
    const inMs = 1000 / this.rate;
    return {
      id: this.id,
      played: Math.round(this.played * inMs),
      buffered: Math.round(this.length * inMs),
      playing: this.playing || this.length > 0,
      level: this.level,
      underruns: this.underruns,
      trimmed: Math.round(this.trimmed * inMs),
    };
  }

  private room(n: number): void {
    if (this.end + n <= this.data.length) return;
    const rest = this.data.subarray(this.start, this.end);
    const data =
      rest.length + n > this.data.length / 2
        ? new Float32Array(2 * Math.max(this.data.length, rest.length + n))
        : this.data;
    data.set(rest); // set copes with an overlap
    this.data = data;
    this.end = rest.length;
    this.start = 0;
  }

  /** advance counts n samples as done with. */
  private advance(n: number): void {
    this.start += n;
    while (n > 0 && this.parts.length) {
      const part = this.parts[0]!;
      if (part.id !== this.id) {
        this.id = part.id;
        this.played = 0;
      }
      const some = Math.min(n, part.left);
      this.played += some;
      part.left -= some;
      n -= some;
      if (!part.left) this.parts.shift();
    }
  }

  /** catchUp shortens what waits: silence over 250 ms, speech gently over 400 ms. */
  private catchUp(): void {
    const block = this.ms(10);
    while (this.length > this.ms(250) && this.quietFor(2 * block)) this.leave(block);
    if (this.length < this.ms(400) || (this.sinceTrim += 1) < 6) return;
    this.sinceTrim = 0;
    // One block passes into what is 10 to 20 ms later, where the two are most alike.
    let best = block;
    let most = -Infinity;
    for (let shift = block; shift <= 2 * block; shift += 2) {
      let like = 0;
      for (let i = 0; i < block; i += 2) like += this.data[this.start + i]! * this.data[this.start + shift + i]!;
      if (like > most) {
        most = like;
        best = shift;
      }
    }
    for (let i = 0; i < block; i++) {
      const w = (i + 1) / block;
      this.data[this.start + best + i] = this.data[this.start + i]! * (1 - w) + this.data[this.start + best + i]! * w;
    }
    this.leave(best);
  }

  private quietFor(n: number): boolean {
    for (let i = 0; i < n; i++) if (Math.abs(this.data[this.start + i]!) > quiet) return false;
    return true;
  }

  private leave(n: number): void {
    this.advance(n);
    this.trimmed += n;
  }
}
