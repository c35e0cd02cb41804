// A talk with an agent or a person over the conversation socket: sound both ways, text, tools of the page. No framework.
import type { Closing, Mic, TalkEvents, TalkOptions, TalkState, Tool } from "./events";
import { Link, type Address, type Connect } from "./link";
import type { Progress } from "./playout";
import { initiation, samples, toBase64, type ServerMessage } from "./protocol";
import type { Ears } from "./recogniser";
import { Sound, type Device } from "./sound";

export type { Closing, Mic, TalkEvents, TalkOptions, TalkState, Tool } from "./events";
export type { Address, Final } from "./link";

const toolTime = 10_000;
const duckAfter = 90; // milliseconds from the first score of speech, which comes up to 96 later than that
const breath = 300; // a pause in speech that is no end of it

export class Talk {
  state: TalkState = "idle";
  conversation = "";
  mic: Mic = { on: false, muted: false };
  blocked = false;
  teammate?: { name: string };
  /** How loud either side is at the moment, 0 to 1. */
  level = { input: 0, output: 0 };
  readonly toolHandlers: Record<string, Tool> = {};
  /** What is done for a tool that has no handler. */
  otherTool: (name: string, parameters: Record<string, unknown>) => unknown = () => {
    throw new Error("the page has no such tool");
  };
  private readonly listeners = new Map<string, Set<(value: never) => void>>();
  private link?: Link;
  private options: TalkOptions = { mic: false };
  private timers = new Set<ReturnType<typeof setTimeout>>();
  private response = { id: -1, text: "" };
  private flushed = -1; // responses up to this one are not played any more
  private playing = false;
  private stopped = 0; // when playing ended
  private thinking = false;
  private speechSince = 0;
  private ducked = false;
  private soundOff = false;
  private hearing?: "browser" | "server" | "none"; // who understands what is said
  private heard = false; // the browser does, at the moment
  private binary = false; // sound goes in binary messages
  private underruns = 0; // of the device, the last time that it was asked
  private captured = 0; // samples of the microphone, since the connection was opened
  private opened = 0; // when that was

  constructor(
    private readonly device: Device = new Sound(),
    private readonly connectTo: Connect = (address, protocol) => new WebSocket(address, [protocol]),
  ) {
    device.onProgress = (p) => this.progressed(p);
    device.onPiece = (pcm, level) => this.piece(pcm, level);
    device.onBlocked = (blocked) => {
      this.blocked = blocked;
      this.emit("blocked", blocked);
    };
    device.onLost = () => {
      this.level.input = 0;
      this.setMicState({ on: false, muted: false, problem: "missing" });
    };
  }

  on<K extends keyof TalkEvents>(name: K, listener: (value: TalkEvents[K]) => void): () => void {
    const all = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, all.add(listener as (value: never) => void));
    return () => {
      all.delete(listener as (value: never) => void);
    };
  }

  private emit<K extends keyof TalkEvents>(name: K, value: TalkEvents[K]): void {
    this.listeners.get(name)?.forEach((l) => (l as (value: TalkEvents[K]) => void)(value));
  }

  /** connect begins the talk, once. It is called while a click is handled, so that sound may be played. */
  connect(address: Address, options: TalkOptions): void {
    this.options = options;
    if (!options.textOnly) this.device.open();
    if (options.live) this.device.say({ live: true });
    if (options.ears) this.attend(options.ears);
    this.enter("connecting");
    if (options.mic) void this.setMic(true);
    const link = (this.link = new Link(this.connectTo, address, options.protocol ?? "convai"));
    link.onOpen = () => link.send(initiation({ ...this.options, hearing: this.options.ears?.offer }));
    link.onMessage = (m, again) => this.receive(m, again);
    link.onSound = (id, pcm) => this.sounds(id, pcm);
    link.onLost = () => {
      this.calm();
      this.enter("reconnecting");
    };
    link.onEnd = (closing) => this.finish(closing);
    link.start();
  }

  /** attend has ears pass on what they understand. */
  private attend(ears: Ears): void {
    ears.onHypothesis = (h) => {
      if (!this.talking || (this.link!.full && !h.final)) return;
      this.link!.send({ type: "user_speech", user_speech_event: { ...h, at_ms: this.position } });
    };
    ears.onSpeech = (speech) => {
      if (this.talking && ears.alone) this.link!.send({ type: "user_vad", speech, at_ms: this.position });
    };
    ears.onState = (state, error) => {
      this.heard = state === "on";
      this.link?.send({ type: "user_hearing", state, ...(error && { error }) });
      this.emit("hearing", { by: "browser", state, error });
    };
  }

  /** understand begins to, if the server leaves it to the browser. */
  private understand(by?: "browser" | "server" | "none"): void {
    this.hearing = by;
    if (by) this.emit("hearing", { by });
    if (by === "browser" && this.heard) this.link?.send({ type: "user_hearing", state: "on" }); // the connection is another
    this.listen();
  }

  /** position is that of the newest sound, in milliseconds; where the ears have the microphone alone, the time. */
  private get position(): number {
    return this.alone ? Date.now() - this.opened : this.captured / 16;
  }

  /** alone says that the ears have the microphone alone. A teammate needs the sound itself. */
  private get alone(): boolean {
    return !!this.options.ears?.alone && (this.hearing ?? "browser") === "browser" && !this.teammate;
  }

  /** listen has the ears follow the microphone. Those that hear what is played, for nothing takes it away, wait for its end. */
  private listen(): void {
    const ears = this.options.ears;
    const echoes = ears?.alone && (this.teammate || this.state === "speaking");
    if (this.hearing === "browser" && this.mic.on && !this.mic.muted && !echoes) ears?.start(this.device.track);
    else ears?.stop();
  }

  /** calm forgets what only holds while the connection does. */
  private calm(): void {
    this.thinking = false;
    this.speechSince = 0;
    this.duck(false);
    this.flush();
  }

  private flush(): void {
    this.device.say({ flush: true });
    this.playing = false;
    this.stopped = 0;
  }

  private receive(m: ServerMessage, again: boolean): void {
    switch (m.type) {
      case "conversation_initiation_metadata":
        this.conversation = m.conversation_initiation_metadata_event.conversation_id;
        this.flushed = -1;
        this.response = { id: -1, text: "" };
        this.binary = m.conversation_initiation_metadata_event.audio === "binary";
        this.captured = 0;
        this.opened = Date.now();
        this.turnState(true);
        this.emit("ready", { conversation: this.conversation, again });
        this.understand(m.conversation_initiation_metadata_event.hearing);
        break;
      case "audio":
        this.sounds(m.audio_event.event_id, samples(m.audio_event.audio_base_64));
        break;
      case "agent_chat_response_part": {
        const { type, text, event_id } = m.text_response_part;
        if (type === "start") this.response = { id: event_id ?? this.response.id + 1, text: "" };
        this.response.text += text;
        if (this.response.text) this.emit("response", { ...this.response, whole: type === "stop" });
        break;
      }
      case "agent_response": {
        const { agent_response: text, event_id } = m.agent_response_event;
        this.response = { id: event_id ?? this.response.id, text };
        this.settle();
        this.emit("response", { ...this.response, whole: true });
        break;
      }
      case "agent_response_correction": {
        const e = m.agent_response_correction_event;
        this.emit("corrected", { id: e.event_id ?? this.response.id, text: e.corrected_agent_response });
        break;
      }
      case "interruption":
        this.flushed = Math.max(this.flushed, m.interruption_event.event_id);
        this.flush();
        this.turnState();
        this.emit("interrupted", { id: m.interruption_event.event_id });
        break;
      case "user_transcript":
        this.emit("heard", { text: m.user_transcription_event.user_transcript, final: true });
        this.wait();
        break;
      case "tentative_user_transcript":
        this.emit("heard", { text: m.tentative_user_transcription_event.user_transcript, final: false });
        break;
      case "vad_score":
        this.score(m.vad_score_event.vad_score);
        break;
      case "client_tool_call":
        void this.run(m.client_tool_call);
        break;
      case "agent_tool_response":
        this.emit("tool", { name: m.agent_tool_response.tool_name, failed: !!m.agent_tool_response.is_error });
        if (m.agent_tool_response.tool_name === "end_call") this.after(15_000, () => this.link?.end({ by: "server" })); // unless the server closes before
        break;
      case "external_agent_connected":
        this.joined({ name: m.external_agent_connected_event?.name ?? "" });
        break;
      case "external_agent_disconnected":
        this.joined(undefined);
        break;
      case "conversation_state":
        this.settle();
        this.emit("moved", m.conversation_state_event);
        break;
      case "rich_content": {
        const { component, props, event_id = this.response.id } = m.rich_content;
        if (component === "choices" && props.choices) this.emit("choices", { id: event_id, choices: props.choices });
        if (component === "sources" && props.sources) this.emit("sources", { id: event_id, sources: props.sources });
        break;
      }
      case "turn":
        this.emit("turn", m.turn_event);
        break;
      case "error": {
        const e = m.error_event;
        this.settle();
        this.emit("problem", { code: e.error_type ?? String(e.code ?? ""), message: e.message ?? e.reason ?? "" });
        break;
      }
    }
  }

  /** sounds plays what belongs to no response that was interrupted. */
  private sounds(id: number, pcm: Int16Array<ArrayBuffer>): void {
    if (id <= this.flushed || this.options.textOnly) return;
    this.device.say({ pcm: pcm.buffer, id }, [pcm.buffer]);
  }

  private joined(teammate: { name: string } | undefined): void {
    this.teammate = teammate;
    if (this.options.ears?.alone && this.mic.on) {
      this.listen();
      if (teammate) void this.setMic(true);
      else this.device.silence();
    }
    this.device.say({ live: !!teammate || !!this.options.live });
    this.settle();
    this.emit("teammate", teammate);
  }

  /** run has the page do what the agent asks for. */
  private async run(call: {
    tool_name: string;
    tool_call_id: string;
    parameters?: Record<string, unknown>;
  }): Promise<void> {
    let result: unknown;
    let failed = false;
    try {
      const tool = Object.hasOwn(this.toolHandlers, call.tool_name)
        ? this.toolHandlers[call.tool_name]!
        : (p: Record<string, unknown>) => this.otherTool(call.tool_name, p);
      result = await new Promise((resolve, reject) => {
        this.after(toolTime, () => reject(new Error("the page took too long")));
        Promise.resolve(call.parameters ?? {})
          .then(tool)
          .then(resolve, reject);
      });
    } catch (e) {
      failed = true;
      result = e instanceof Error ? e.message : String(e);
    }
    const text = typeof result === "string" ? result : result === undefined ? "done" : JSON.stringify(result);
    this.link?.send({ type: "client_tool_result", tool_call_id: call.tool_call_id, result: text, is_error: failed });
    this.emit("tool", { name: call.tool_name, failed });
  }

  /** score lowers our own sound while the person seems to be speaking. */
  private score(value: number): void {
    const now = Date.now();
    if (value <= 0.5) {
      this.speechSince = 0;
      this.duck(false);
      return;
    }
    this.speechSince ||= now;
    if (now - this.speechSince >= duckAfter) this.duck(true);
  }

  private duck(on: boolean): void {
    if (on === this.ducked) return;
    this.ducked = on;
    this.device.say({ duck: on });
  }

  private progressed(p: Progress): void {
    this.level.output = this.soundOff ? 0 : p.level;
    if (p.underruns > this.underruns && this.talking)
      this.link!.send({ type: "user_playback", underruns: p.underruns });
    this.underruns = p.underruns;
    if (p.playing && !this.playing) this.thinking = false;
    if (this.playing && !p.playing) {
      this.stopped = Date.now();
      this.after(breath, () => this.turnState());
    }
    this.playing = p.playing;
    this.turnState();
    this.emit("progress", p);
  }

  private piece(pcm: ArrayBuffer, level: number): void {
    this.level.input = level;
    this.captured += pcm.byteLength / 2;
    // What the network does not take is lost: later it would be too late.
    if (!this.talking || this.link!.full) return;
    if (this.binary) this.link!.sendSound(pcm);
    else this.link!.send({ user_audio_chunk: toBase64(pcm) });
  }

  private get talking(): boolean {
    return this.state === "listening" || this.state === "thinking" || this.state === "speaking";
  }
  private wait(): void {
    this.thinking = !this.teammate;
    this.turnState();
  }
  private settle(): void {
    this.thinking = false;
    this.turnState();
  }

  private turnState(opened = false): void {
    if (!opened && !this.talking) return;
    this.enter(
      this.playing || Date.now() - this.stopped < breath ? "speaking" : this.thinking ? "thinking" : "listening",
    );
  }

  private enter(state: TalkState): void {
    if (state === this.state) return;
    this.state = state;
    if (this.options.ears?.alone) this.listen();
    this.emit("state", state);
  }

  /** sendText says something by typing; false: there is no connection. */
  sendText(text: string): boolean {
    const sent = this.talking && this.link!.send({ type: "user_message", text });
    if (sent) this.wait();
    return sent;
  }

  /** send passes on what is no turn: contextual_update, user_activity, feedback, to_agent. */
  send(
    m:
      | { type: "contextual_update"; text: string }
      | { type: "user_activity" }
      | { type: "feedback"; score: "like" | "dislike"; event_id: number }
      | { type: "to_agent" },
  ): boolean {
    return this.talking && this.link!.send(m);
  }

  /** setMic opens the microphone, or gives it back. It resolves to what is. */
  async setMic(on: boolean): Promise<Mic> {
    if (!on) {
      this.device.silence();
      this.level.input = 0;
      return this.setMicState({ on: false, muted: false });
    }
    const problem = this.alone ? undefined : await this.device.listen();
    if (this.state === "ended") {
      this.device.silence();
      return this.mic;
    }
    return this.setMicState({ on: !problem, muted: false, problem });
  }

  /** mute keeps the microphone, and sends silence. */
  mute(on: boolean): void {
    if (!this.mic.on) return;
    this.device.mute(on);
    this.setMicState({ ...this.mic, muted: on });
  }

  private setMicState(mic: Mic): Mic {
    this.mic = mic;
    this.listen();
    this.emit("mic", mic);
    return mic;
  }

  /** setSound turns off what is played, without stopping it. */
  setSound(on: boolean): void {
    this.soundOff = !on;
    this.device.say({ mute: !on });
  }

  /** hear lets a browser play that waits for a click. */
  hear(): void {
    this.device.resume();
  }

  /** hangUp ends the talk. */
  hangUp(): void {
    this.link?.send({ type: "hang_up" });
    this.link?.end({ by: "page" });
  }

  private finish(closing: Closing): void {
    for (const t of this.timers) clearTimeout(t);
    this.timers.clear();
    this.device.silence();
    if (closing.by === "server" && this.playing) {
      // a goodbye is not cut off
      const end = setTimeout(() => this.device.close(), 8000);
      const quiet = this.on("progress", (p) => {
        if (!p.playing) {
          quiet();
          clearTimeout(end);
          this.device.close();
        }
      });
    } else {
      this.device.close();
    }
    this.playing = this.thinking = false;
    this.level = { input: 0, output: 0 };
    this.teammate = undefined;
    this.hearing = undefined;
    this.enter("ended");
    this.setMicState({ on: false, muted: false });
    this.emit("closed", closing);
  }

  private after(ms: number, f: () => void): void {
    const t = setTimeout(() => {
      this.timers.delete(t);
      f();
    }, ms);
    this.timers.add(t);
  }
}
