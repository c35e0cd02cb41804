// By what means the page understands speech, where the installation itself does not.
import {
  installed,
  localOf,
  Recogniser,
  recognition,
  type Ears,
  type HearingState,
  type Hypothesis,
  type Local,
  type Offer,
} from "../shared/voice/recogniser";
import type { Host } from "./host";

/** What is known of this page, of the page that holds it, and of the visitor's wish. */
export interface Situation {
  /** How the widget lets browsers understand speech; undefined: not at all, or not needed. */
  allowed?: "device" | "service";
  embedded: boolean;
  /** The browser has a recogniser. */
  recognises: boolean;
  /** It may recognise on the device, in a page of its own. */
  mayBeLocal: boolean;
  /** What it says of this page, and the page that holds it of itself. */
  here?: Local;
  there?: Local;
  agreed?: boolean;
}

export interface Means {
  where: "page" | "host";
  local: boolean;
}

/** meansOf is the best means; undefined: there are none. ask: only if the visitor agrees to the service of the browser's maker. */
export function meansOf(s: Situation): { means?: Means; ask?: boolean; window?: boolean } {
  if (!s.allowed) return {};
  const can = (l?: Local) => l !== undefined && l !== "unavailable";
  if (!s.embedded && can(s.here)) return { means: { where: "page", local: true } };
  if (s.embedded && can(s.there)) return { means: { where: "host", local: true } };
  if (s.allowed === "service" && s.recognises && s.agreed !== false)
    return { means: { where: "page", local: false }, ask: s.agreed === undefined };
  return { window: s.embedded && s.mayBeLocal };
}

const patience = 1500; // milliseconds for what the browser has to fetch

export class Hearing {
  private here?: Local;
  private there?: Local;
  private agreed?: boolean;
  private failed = false;
  private ears?: HostEars;

  constructor(
    private readonly host: Host,
    private readonly allowed: () => "device" | "service" | undefined,
    private readonly language: () => string,
    private readonly changed: () => void,
  ) {}

  /** look asks the browser what it can, without having it do anything. */
  async look(hosted: boolean): Promise<void> {
    if (!this.allowed()) return;
    if (hosted) this.host.tell("ears", { do: "look", lang: this.language() });
    if (this.host.embedded) return;
    this.here = await localOf(this.language());
    this.changed();
  }

  /** receive takes what the page that holds this one says of its ears. */
  receive(m: Record<string, unknown>): void {
    if (m.local) this.there = m.local as Local;
    if (m.state) this.ears?.onState(m.state as HearingState, m.error as string | undefined);
    if (m.heard) this.ears?.onHypothesis(m.heard as Hypothesis);
    this.changed();
  }

  get plan(): ReturnType<typeof meansOf> {
    const kind = recognition();
    if (this.failed) return {};
    return meansOf({
      allowed: this.allowed(),
      embedded: this.host.embedded,
      recognises: !!kind,
      mayBeLocal: !!kind?.available,
      here: this.here,
      there: this.there,
      agreed: this.agreed,
    });
  }

  /** fetching says whether the browser has to fetch a language first. */
  get fetching(): boolean {
    return this.plan.means?.local === true && (this.host.embedded ? this.there : this.here) !== "available";
  }

  /** fetch has the browser fetch it, for as long as somebody waits for that. */
  async fetch(): Promise<void> {
    const late = new Promise<boolean>((r) => setTimeout(() => r(false), patience));
    if (this.host.embedded) {
      this.there = "unavailable";
      this.host.tell("ears", { do: "fetch", lang: this.language() });
      await late; // receive says what came of it
    } else this.here = (await Promise.race([installed(this.language()), late])) ? "available" : "unavailable";
  }

  /** agree is the visitor's answer, for this talk. */
  agree(yes: boolean): void {
    this.agreed = yes;
  }

  /** forget begins anew: a refusal and a failure are those of one talk. */
  forget(): void {
    this.failed = false;
    if (this.agreed === false) this.agreed = undefined;
  }

  fail(): void {
    this.failed = true;
  }

  /** make returns the ears of a talk, if there are any. */
  make(phrases: string[]): Ears | undefined {
    const { means } = this.plan;
    if (!means) return undefined;
    const offer = { local: means.local, lang: this.language() };
    if (means.where === "page") {
      const alone = !means.local && /Android/.test(navigator.userAgent);
      return new Recogniser({ ...offer, track: !alone && !!recognition()?.available }, phrases, recognition(), alone);
    }
    return (this.ears = new HostEars(this.host, { ...offer, track: false }, phrases));
  }
}

/** HostEars are those of the page that holds this one, if its tag says that it may listen. */
class HostEars implements Ears {
  onHypothesis: (h: Hypothesis) => void = () => {};
  onState: (state: HearingState, error?: string) => void = () => {};

  constructor(
    private readonly host: Host,
    readonly offer: Offer,
    private readonly phrases: string[],
  ) {}

  start(): void {
    this.host.tell("ears", { do: "start", lang: this.offer.lang, phrases: this.phrases });
  }
  stop(): void {
    this.host.tell("ears", { do: "stop" });
  }
}
