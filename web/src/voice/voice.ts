// The life of the page: sessions, the talk, what is typed before there is a connection. Components show its model.
import { Talk, type Closing } from "../shared/voice/talk";
import { Aloud } from "./aloud";
import { Refused, type Api, type Session } from "./api";
import { Captions } from "./captions";
import { Hearing } from "./hearing";
import { open } from "./window";
import type { Customer, Host, Widget } from "./host";
import { empty, reduce, unsent, type Change, type Failure, type Model } from "./model";
import { fill, textsFor, type Texts } from "./texts";

const textOnlyAfter = 3_000; // a response of which nothing has been heard is shown

export class Voice {
  model: Model = empty;
  talk?: Talk;
  texts: Texts;
  readonly hearing: Hearing;
  private readonly listeners = new Set<() => void>();
  private readonly tools = new Map<string, { resolve: (value: unknown) => void; reject: (e: Error) => void }>();
  private captions = new Captions();
  private aloud?: Aloud;
  private played = new Map<number, number>();
  private said = new Set<number>();
  private chosen = 0;
  private calls = 0;
  private asked = 0;

  constructor(
    private readonly api: Api,
    private readonly host: Host,
    public widget: Widget,
    private readonly customer: Customer,
    public language: string,
  ) {
    this.texts = textsFor(language, widget.texts);
    this.hearing = new Hearing(
      host,
      () => this.widget.browser_hearing,
      () => this.language,
      () => this.listeners.forEach((l) => l()),
    );
    void this.hearing.look(!!customer.hears);
    host.onMessage = (m) => {
      if (m.type === "ears") this.hearing.receive(m);
      if (m.type === "set_user") customer.identity = String(m.identity ?? ""); // of the next conversation
      const waiting = this.tools.get(String(m.id));
      if (m.type !== "tool" || !waiting) return;
      this.tools.delete(String(m.id));
      if (m.failed) waiting.reject(new Error(String(m.failed)));
      else waiting.resolve(m.result);
    };
    window.addEventListener("pagehide", () => this.talk?.hangUp());
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** join shows whether the page also has a chat. */
  join(chat?: boolean): void {
    this.widget = { ...this.widget, chat };
    this.listeners.forEach((l) => l());
  }

  change(c: Change): void {
    const before = this.model.state;
    this.model = reduce(this.model, c);
    const { state, screen } = this.model;
    if (c.do === "failed") this.host.tell("state", { state: "error" });
    else if (state !== before)
      this.host.tell("state", { state: state === "reconnecting" ? "connecting" : screen === "start" ? "idle" : state });
    this.listeners.forEach((l) => l());
  }

  /** choose has the page and the agent speak another language. */
  async choose(language: string): Promise<void> {
    const mine = ++this.chosen;
    const widget = await this.api.configuration(language).catch(() => undefined);
    if (mine !== this.chosen) return;
    this.language = language;
    if (widget) this.widget = { ...widget, chat: this.widget.chat };
    this.texts = textsFor(language, this.widget.texts);
    this.listeners.forEach((l) => l());
  }

  /** understands says whether the installation or the browser understands speech. */
  get understands(): boolean {
    return this.widget.hearing !== false || !!this.hearing.plan.means;
  }

  /** canListen says whether speech is of use: somebody or something understands it. */
  get canListen(): boolean {
    return this.understands || this.model.teammate !== undefined;
  }

  /** speak begins a talk by speaking, once the visitor has agreed to what that takes. */
  async speak(): Promise<void> {
    if (this.hearing.fetching) await this.hearing.fetch();
    if (this.hearing.plan.ask) this.change({ do: "asking", asking: true });
    else this.begin(this.canListen, true);
  }

  /** agree is the visitor's answer to whether the browser's maker may recognise what they say. */
  agree(yes: boolean): void {
    this.hearing.agree(yes);
    this.change({ do: "asking", asking: false });
    if (this.model.screen === "start") this.begin(yes, true);
    else if (yes) void this.microphone();
  }

  /** elsewhere opens the page in a window of its own, where the browser can do more. */
  elsewhere(): void {
    const opened = open(this.widget.widget_id, {
      facts: () => ({ widget: this.widget, customer: this.customer }),
      tool: (name, parameters) => this.onHost(name, parameters),
    });
    if (opened) this.host.tell("close");
  }

  /** again leads back to the start. */
  again(): void {
    this.hearing.forget();
    this.change({ do: "again" });
  }

  /** begin starts a talk, in the click that asked for it. aloud: who does not speak is spoken to all the same. */
  begin(speaking: boolean, aloud = false): void {
    this.api.token = "";
    this.captions = new Captions();
    this.aloud = this.widget.speech === false ? new Aloud(this.language) : undefined;
    this.played.clear();
    this.said.clear();
    // Who chose to write in silence may turn the sound on; who has no other way to be spoken to hears it.
    this.change({
      do: "begin",
      speaking: speaking && this.canListen,
      sound: speaking || aloud || !this.understands,
      at: Date.now(),
    });
    const talk = (this.talk = new Talk());
    this.follow(talk);
    talk.connect((again) => this.address(talk, again), {
      mic: speaking && this.canListen,
      ears: this.widget.hearing === false ? this.hearing.make(this.phrases) : undefined,
    });
    if (!this.model.sound) talk.setSound(false);
  }

  /** phrases are words that the visitor is likely to say. */
  private get phrases(): string[] {
    return [this.widget.agent?.name ?? "", this.widget.name].filter(Boolean);
  }

  private async address(talk: Talk, again: boolean): Promise<string> {
    if (!again) this.api.token = "";
    const s: Session = await this.api.session(this.customer, this.language);
    if (talk === this.talk) this.change({ do: "conversation", id: s.conversation_id });
    return s.signed_url;
  }

  private follow(talk: Talk): void {
    const on: Talk["on"] = (name, f) =>
      talk.on(name, (v) => {
        if (talk === this.talk) f(v);
      });
    talk.otherTool = (name, parameters) => this.onHost(name, parameters);
    on("state", (state) => {
      if (state !== "ended") this.change({ do: "state", state });
    });
    on("ready", ({ again }) => {
      this.said.clear();
      this.played.clear();
      this.change({ do: "notice" });
      if (again) void this.reload(talk);
      else this.sendUnsent();
    });
    on("heard", (h) => this.change({ do: "heard", ...h }));
    on("response", (r) => this.responded(talk, r));
    on("interrupted", ({ id }) => {
      this.aloud?.stop();
      this.change({ do: "interrupted", id });
    });
    on("corrected", (c) => {
      if (this.model.sound) this.change({ do: "corrected", ...c });
    }); // who reads has read all of it
    on("progress", (p) => this.progressed(p.id, p.played, p.playing));
    on("choices", (c) => this.change({ do: "choices", choices: c.choices }));
    on("sources", (s) => this.change({ do: "sources", ...s }));
    on("turn", (t) => this.change({ do: "turn", ...t }));
    on("moved", (m) => this.change({ do: "moved", ...m }));
    on("teammate", (t) => {
      if (!t)
        this.change({ do: "event", text: fill(this.texts.gone, { name: this.model.teammate || this.texts.someone }) });
      this.change({ do: "teammate", name: t ? t.name || this.texts.someone : undefined });
      if (t) this.change({ do: "event", text: fill(this.texts.joined, { name: t.name || this.texts.someone }) });
    });
    on("mic", (mic) => this.change({ do: "mic", mic }));
    on("hearing", ({ by, state }) => {
      if (state !== "failed" && !(by === "none" && this.widget.hearing === false)) return;
      this.hearing.fail();
      this.change({ do: "notice", text: this.texts.lostHearing });
      if (!this.canListen) void talk.setMic(false);
    });
    on("blocked", (blocked) => this.change({ do: "blocked", blocked }));
    on("problem", (p) => this.change({ do: "notice", text: p.message || this.texts.problem }));
    on("closed", (c) => this.closed(c));
  }

  private closed(c: Closing): void {
    this.aloud?.stop();
    const over = c.error instanceof Refused && c.error.status === 409; // it ended while the connection was lost
    if (c.by === "page" || c.by === "server" || over) {
      this.change({ do: "ended", left: c.by === "page", at: Date.now() });
      return;
    }
    const refused = c.error instanceof Refused;
    this.change({
      do: "failed",
      failure: c.by === "refused" && !refused ? "refused" : failureOf(c.error),
      detail: refused ? (c.error as Refused).message : c.reason,
    });
  }

  /** responded shows a response as it is spoken, or at once where nothing is heard. */
  private responded(talk: Talk, r: { id: number; text: string; whole: boolean }): void {
    this.change({ do: "response", ...r, at: Date.now() });
    if (!r.whole || this.said.has(r.id)) return;
    this.said.add(r.id);
    const all = () => {
      if (talk === this.talk) this.change({ do: "shown", id: r.id, shown: r.text.length, done: true });
    };
    if (this.aloud) {
      if (
        !this.model.sound ||
        !this.aloud.say(r.text, (shown) => this.change({ do: "shown", id: r.id, shown, done: false }), all)
      )
        all();
    } else if (!this.model.sound || talk.blocked) all();
    else
      setTimeout(() => {
        if (!this.played.get(r.id)) all();
      }, textOnlyAfter);
  }

  private progressed(id: number, ms: number, playing: boolean): void {
    if (playing && ms > 0 && !this.played.has(id) && !this.model.lines.some((l) => l.id === id))
      this.change({ do: "resumed", id }); // the speech that stopped it was none
    this.played.set(id, ms);
    for (const l of this.model.lines) {
      if (l.id === undefined || l.done || l.id > id) continue;
      if (l.id < id || (!playing && ms > 0)) {
        this.captions.learn(l.text.slice(l.from ?? 0), this.played.get(l.id) ?? 0);
        this.change({ do: "shown", id: l.id, shown: l.text.length, done: true });
      } else {
        const from = l.from ?? 0;
        const shown = from + this.captions.spoken(l.text.slice(from), ms);
        if (shown > l.shown) this.change({ do: "shown", id: l.id, shown, done: false });
      }
    }
  }

  /** reload shows what the server has after the connection was lost, and sends what it has not. */
  private async reload(talk: Talk): Promise<void> {
    try {
      const { turns, state } = await this.api.turns(this.model.conversation);
      if (talk === this.talk) this.change({ do: "reload", turns, state });
    } catch {
      /* what is shown stays */
    }
    if (talk === this.talk) this.sendUnsent();
  }

  private sendUnsent(): void {
    for (const text of unsent(this.model)) this.talk?.sendText(text);
  }

  /** say types something, or taps a choice. */
  say(text: string): void {
    const said = text.trim();
    if (!said) return;
    this.aloud?.stop();
    this.change({ do: "typed", text: said });
    this.talk?.sendText(said); // without a connection it is sent when there is one
  }

  typing(): void {
    if (Date.now() - this.asked < 3000) return;
    this.asked = Date.now();
    this.talk?.send({ type: "user_activity" });
  }

  /** microphone opens the microphone, mutes it, or opens it again. */
  async microphone(): Promise<void> {
    const talk = this.talk;
    if (!talk) return;
    if (talk.mic.on) {
      talk.mute(!talk.mic.muted);
      return;
    }
    if (this.hearing.plan.ask && !this.model.teammate) {
      this.change({ do: "asking", asking: true });
      return;
    }
    if (!this.model.sound) this.sound(true); // who speaks wants to hear
    await talk.setMic(true);
  }

  /** write gives the microphone back, and goes on in writing. */
  write(): void {
    void this.talk?.setMic(false);
  }

  sound(on: boolean): void {
    this.talk?.setSound(on);
    if (!on) this.aloud?.stop();
    this.change({ do: "sound", on });
  }

  hear(): void {
    this.talk?.hear();
  }
  hangUp(): void {
    this.talk?.hangUp();
  }

  async person(): Promise<void> {
    try {
      this.change({ do: "moved", ...(await this.api.person()) });
    } catch (e) {
      this.change({ do: "notice", text: (e as Error).message || this.texts.problem });
    }
  }

  async agent(): Promise<void> {
    try {
      this.change({ do: "moved", ...(await this.api.agent()) });
    } catch {
      /* a teammate has taken it by now */
    }
  }

  async rate(rating: number, comment: string): Promise<void> {
    await this.api.rate(rating, comment);
    this.change({ do: "rated" });
  }

  /** onHost has the page that holds this one do what the agent asks for. */
  private onHost(name: string, parameters: Record<string, unknown>): Promise<unknown> {
    const id = String(++this.calls);
    return new Promise((resolve, reject) => {
      this.tools.set(id, { resolve, reject });
      this.host.tell("tool", { id, name, parameters });
    });
  }
}

/** failureOf is what a page says of an error. */
export function failureOf(e: unknown): Failure {
  if (!(e instanceof Refused)) return "lost";
  if (e.status === 429 || e.code === "limit_exceeded") return "busy";
  if (e.status === 404 || e.status === 410) return "gone";
  return e.status >= 500 ? "unavailable" : "refused";
}
