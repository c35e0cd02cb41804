// What is heard and said on this device: one audio context, a worklet that plays and, while it is wanted, a microphone.
import capture from "./capture.worklet?worker&url";
import playback from "./playback.worklet?worker&url";
import type { PlaybackMessage } from "./playback.worklet";
import type { Progress } from "./playout";

/** Why there is no microphone. */
export type MicProblem = "refused" | "missing" | "busy" | "unsupported";

/** Device is the sound of a talk; tests have another. */
export interface Device {
  onProgress: (p: Progress) => void;
  onPiece: (pcm: ArrayBuffer, level: number) => void;
  /** The browser lets nothing be heard until the page is clicked. */
  onBlocked: (blocked: boolean) => void;
  /** The microphone went away by itself. */
  onLost: () => void;
  /** The microphone, while it is open. */
  readonly track?: MediaStreamTrack;
  open(): void;
  say(m: PlaybackMessage, transfer?: Transferable[]): void;
  listen(): Promise<MicProblem | undefined>;
  silence(): void;
  mute(on: boolean): void;
  resume(): void;
  close(): void;
}

export class Sound implements Device {
  onProgress: (p: Progress) => void = () => {};
  onPiece: (pcm: ArrayBuffer, level: number) => void = () => {};
  onBlocked: (blocked: boolean) => void = () => {};
  onLost: () => void = () => {};
  private context?: AudioContext;
  private output?: AudioWorkletNode;
  private ready: Promise<void> = Promise.resolve();
  private waiting: [PlaybackMessage, Transferable[]][] = [];
  private input?: { stream: MediaStream; source: MediaStreamAudioSourceNode; node: AudioWorkletNode };
  private wanted = 0;
  private blocked = false;
  private timer?: ReturnType<typeof setTimeout>;

  /** open begins to play. It is called while a click is handled: then no browser holds the sound back. */
  open(): void {
    if (this.context || typeof AudioContext === "undefined" || !("audioWorklet" in AudioContext.prototype)) return;
    // Without it, a telephone plays through its earpiece while the microphone is open.
    const session = (navigator as { audioSession?: { type: string } }).audioSession;
    if (session) session.type = "play-and-record";
    const context = (this.context = new AudioContext({ latencyHint: "interactive" }));
    context.onstatechange = () => this.look();
    this.resume();
    this.timer = setTimeout(() => this.look(), 600);
    this.ready = Promise.all([
      context.audioWorklet?.addModule(playback),
      context.audioWorklet?.addModule(capture),
    ]).then(() => {
      if (context.state === "closed" || !context.audioWorklet) return;
      const node = new AudioWorkletNode(context, "carillon-playback", { numberOfInputs: 0, outputChannelCount: [1] });
      node.port.onmessage = (e: MessageEvent<Progress>) => this.onProgress(e.data);
      node.connect(context.destination);
      this.output = node;
      for (const [m, transfer] of this.waiting.splice(0)) node.port.postMessage(m, transfer);
    });
    this.ready.catch(() => {}); // then it is read, not heard
  }

  /** say passes a message to the worklet that plays. */
  say(m: PlaybackMessage, transfer: Transferable[] = []): void {
    if (this.output) this.output.port.postMessage(m, transfer);
    else if (this.context) this.waiting.push([m, transfer]);
  }

  /** listen opens the microphone, and says why that cannot be. */
  async listen(): Promise<MicProblem | undefined> {
    const mine = ++this.wanted;
    if (!this.context || !navigator.mediaDevices?.getUserMedia) return "unsupported";
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({
        audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
      });
    } catch (e) {
      const name = (e as DOMException).name;
      return name === "NotFoundError" || name === "OverconstrainedError"
        ? "missing"
        : name === "NotReadableError" || name === "AbortError"
          ? "busy"
          : "refused";
    }
    const stop = () => stream.getTracks().forEach((t) => t.stop());
    try {
      await this.ready;
    } catch {
      stop();
      return "unsupported";
    }
    if (mine !== this.wanted || !this.context || !this.context.audioWorklet) {
      stop();
      return undefined;
    } // it is no longer wanted
    this.release();
    const source = this.context.createMediaStreamSource(stream);
    const node = new AudioWorkletNode(this.context, "carillon-capture", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
      channelInterpretation: "speakers",
    });
    node.port.onmessage = (e: MessageEvent<{ pcm: ArrayBuffer; level: number }>) =>
      this.onPiece(e.data.pcm, e.data.level);
    source.connect(node);
    this.input = { stream, source, node };
    stream.getAudioTracks()[0]?.addEventListener("ended", () => {
      if (this.input?.stream === stream) {
        this.silence();
        this.onLost();
      }
    });
    return undefined;
  }

  get track(): MediaStreamTrack | undefined {
    return this.input?.stream.getAudioTracks()[0];
  }

  /** silence gives the microphone back. */
  silence(): void {
    this.wanted++;
    this.release();
  }

  private release(): void {
    if (!this.input) return;
    this.input.stream.getTracks().forEach((t) => t.stop());
    this.input.source.disconnect();
    this.input.node.port.onmessage = null;
    this.input.node.port.postMessage(0);
    this.input = undefined;
  }

  /** mute keeps the microphone and sends silence. */
  mute(on: boolean): void {
    this.input?.stream.getAudioTracks().forEach((t) => {
      t.enabled = !on;
    });
  }

  /** resume is called while a click is handled. */
  resume(): void {
    this.context?.resume().then(
      () => this.look(),
      () => {},
    );
  }

  private look(): void {
    const blocked = !!this.context && this.context.state !== "running" && this.context.state !== "closed";
    if (blocked === this.blocked) return;
    this.blocked = blocked;
    this.onBlocked(blocked);
  }

  close(): void {
    clearTimeout(this.timer);
    this.silence();
    this.output?.port.postMessage({ stop: true });
    if (this.context) {
      this.context.onstatechange = null;
      void this.context.close().catch(() => {});
    }
    this.context = this.output = undefined;
    this.waiting = [];
    this.blocked = false;
  }
}
