// The browser's own recogniser of speech (Web Speech API): started again when it ends by itself, given up when it yields nothing.

/** A hypothesis is the whole text of an utterance so far; a final "" says that nothing was understood. */
export interface Hypothesis {
  utterance: number;
  text: string;
  final: boolean;
  confidence?: number;
}

export type HearingState = "on" | "off" | "failed";

/** What a page offers the server: whether the sound stays on the device, and whether the recogniser gets the page's own microphone. */
export interface Offer {
  local: boolean;
  lang: string;
  track: boolean;
}

/** Ears understand speech, in this page or in the page that holds it. */
export interface Ears {
  readonly offer: Offer;
  /** The microphone is theirs alone while they listen, as on Android: nothing else gets its sound. */
  readonly alone?: boolean;
  onHypothesis: (h: Hypothesis) => void;
  onState: (state: HearingState, error?: string) => void;
  /** Speech begins or ends, as far as they know. */
  onSpeech?: (speech: boolean) => void;
  start(track?: MediaStreamTrack): void;
  stop(): void;
}

interface Result {
  readonly isFinal: boolean;
  readonly [i: number]: { transcript: string; confidence: number } | undefined;
}

/** Recognition is as much of a SpeechRecognition as is used. */
export interface Recognition {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  processLocally?: boolean;
  phrases?: unknown[];
  onstart: (() => void) | null;
  onresult: ((e: { resultIndex: number; results: ArrayLike<Result> }) => void) | null;
  onnomatch: (() => void) | null;
  onerror: ((e: { error: string }) => void) | null;
  onend: (() => void) | null;
  onspeechstart?: (() => void) | null;
  onspeechend?: (() => void) | null;
  start(track?: MediaStreamTrack): void;
  abort(): void;
}

export type Local = "available" | "downloadable" | "downloading" | "unavailable";

export interface RecognitionKind {
  new (): Recognition;
  available?(o: { langs: string[]; processLocally: boolean }): Promise<Local>;
  install?(o: { langs: string[]; processLocally: boolean }): Promise<boolean>;
}

/** recognition is the browser's recogniser, if it has one. */
export function recognition(): RecognitionKind | undefined {
  const w = globalThis as { SpeechRecognition?: RecognitionKind; webkitSpeechRecognition?: RecognitionKind };
  return w.SpeechRecognition ?? w.webkitSpeechRecognition;
}

/** localOf says whether the browser can recognise a language on the device. A frame of another site never can. */
export async function localOf(lang: string): Promise<Local> {
  const langs = { langs: [lang], processLocally: true };
  return (
    (await recognition()
      ?.available?.(langs)
      .catch(() => undefined)) ?? "unavailable"
  );
}

/** installed has the browser fetch what it lacks for a language, and says whether it can recognise that now. */
export async function installed(lang: string): Promise<boolean> {
  const langs = { langs: [lang], processLocally: true };
  return (
    (await recognition()
      ?.install?.(langs)
      .catch(() => false)) ?? false
  );
}

const pause = 250; // milliseconds before it is started again
const most = 3; // fruitless starts in a row
const short = 2000; // a start that ends sooner, without a word, is fruitless
const every = 200; // milliseconds between two hypotheses
const final = ["not-allowed", "service-not-allowed", "language-not-supported", "audio-capture"]; // errors that another start does not change

export class Recogniser implements Ears {
  onHypothesis: (h: Hypothesis) => void = () => {};
  onState: (state: HearingState, error?: string) => void = () => {};
  onSpeech: (speech: boolean) => void = () => {};
  private speaks = false;
  private running?: Recognition;
  private track?: MediaStreamTrack;
  private wanted = false;
  private on = false;
  private utterance = 0;
  private done = 0; // results that are final, of the running one
  private pending = ""; // what is not final yet
  private shown = "";
  private sent = 0;
  private fruitless = 0;
  private again?: ReturnType<typeof setTimeout>;
  private late?: ReturnType<typeof setTimeout>;

  constructor(
    readonly offer: Offer,
    private phrases: string[] = [],
    private readonly kind = recognition(),
    readonly alone = false,
  ) {}

  start(track?: MediaStreamTrack): void {
    this.track = track;
    if (this.wanted) return;
    this.wanted = true;
    this.fruitless = 0;
    if (!this.running) this.open(); // otherwise when it has ended
  }

  stop(): void {
    this.wanted = false;
    clearTimeout(this.again);
    this.running?.abort();
    this.enter("off");
  }

  private enter(state: HearingState, error?: string): void {
    if ((state === "on") === this.on && state !== "failed") return;
    this.on = state === "on";
    this.onState(state, error);
  }

  private open(): void {
    if (!this.kind || !this.wanted || this.running) return;
    const r = new this.kind();
    const began = Date.now();
    let yielded = false;
    let error = "";
    r.lang = this.offer.lang;
    r.continuous = true;
    r.interimResults = true;
    if (this.offer.local) r.processLocally = true;
    this.favour(r);
    this.done = 0;
    r.onstart = () => {
      if (this.wanted) this.enter("on");
    };
    r.onresult = (e) => {
      yielded = true;
      this.take(e.resultIndex, e.results);
    };
    r.onnomatch = () => this.settle("");
    r.onspeechstart = () => this.speech(true);
    r.onspeechend = () => this.speech(false);
    r.onerror = (e) => {
      error = e.error;
      if (error === "phrases-not-supported") this.phrases = [];
    };
    r.onend = () => {
      this.running = undefined;
      this.settle(this.pending);
      this.speech(false);
      if (!this.wanted) return;
      if (yielded || error === "aborted") this.fruitless = 0;
      else if ((error && error !== "no-speech") || Date.now() - began < short) this.fruitless++;
      if (final.includes(error) || this.fruitless >= most) {
        this.wanted = false;
        this.enter("failed", error || "ended");
        return;
      }
      this.again = setTimeout(() => this.open(), pause);
    };
    this.running = r;
    try {
      r.start(this.track);
    } catch {
      this.running = undefined;
      this.wanted = false;
      this.enter("failed", "start-failed");
    }
  }

  private speech(on: boolean): void {
    if (on === this.speaks) return;
    this.speaks = on;
    this.onSpeech(on);
  }

  /** favour has words that are likely recognised more easily, where the browser knows how. */
  private favour(r: Recognition): void {
    const Phrase = (globalThis as { SpeechRecognitionPhrase?: new (phrase: string, boost: number) => unknown })
      .SpeechRecognitionPhrase;
    if (!Phrase || !this.phrases.length) return;
    try {
      r.phrases = this.phrases.map((p) => new Phrase(p, 3));
    } catch {
      /* it hears without */
    }
  }

  private take(from: number, results: ArrayLike<Result>): void {
    let pending = "";
    let confidence: number | undefined;
    for (let i = Math.min(from, this.done); i < results.length; i++) {
      const result = results[i]!;
      const { transcript = "", confidence: sure } = result[0] ?? {};
      if (i < this.done) continue;
      if (result.isFinal) {
        this.done = i + 1;
        this.pending = "";
        this.settle(transcript, sure, true);
      } else {
        pending += transcript;
        confidence = sure;
      }
    }
    this.pending = pending.trim();
    this.hint(confidence);
  }

  /** hint passes on what is not final, at most five times a second. */
  private hint(confidence?: number): void {
    clearTimeout(this.late);
    if (!this.pending || this.pending === this.shown) return;
    const wait = this.sent + every - Date.now();
    if (wait > 0) {
      this.late = setTimeout(() => this.hint(confidence), wait);
      return;
    }
    this.speech(true); // some browsers do not say when it begins
    this.pass(this.pending, false, confidence);
    this.shown = this.pending;
    this.sent = Date.now();
  }

  /** settle ends an utterance. */
  private settle(text: string, confidence?: number, whole = false): void {
    clearTimeout(this.late);
    if (!whole && !this.pending && !this.shown) return; // nothing of it was passed on
    this.pending = this.shown = "";
    this.pass(text.trim(), true, confidence);
    this.speech(false);
    this.utterance++;
  }

  private pass(text: string, final: boolean, confidence?: number): void {
    const sure = confidence !== undefined && confidence >= 0 && confidence <= 1 ? { confidence } : {};
    this.onHypothesis({ utterance: this.utterance, text: text.slice(0, 4000), final, ...sure });
  }
}
