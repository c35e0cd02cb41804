// Voice lines and their test calls, as /panel/v1 has them.
export interface Breaker {
  state: "closed" | "open" | "half_open";
  class: string | null;
  detail: string | null;
  since: string | null;
  until: string | null;
}

/** Health is how a trunk responded when it was last asked. */
export interface Health {
  at: string;
  responds: boolean;
  code: number;
  reason: string;
  ms: number;
  problem: "" | "unreachable" | "denied";
}

/** VoiceLine is a line in the list; Sender has its settings. */
export interface VoiceLine {
  id: string;
  number: string;
  provider: string;
  default: boolean;
  breaker: Breaker;
  line: {
    trunk: string;
    caller_id: string;
    agent: string;
    max_concurrent: number;
    under_way: number | null;
    ring_timeout: string;
    health: Health | null;
  };
}

/** LineSettings are those of a line with a trunk; others have none. The password is written and never read. */
export interface LineSettings {
  trunk?: string;
  domain?: string;
  username?: string;
  password?: string;
  realm?: string;
  caller_id?: string;
  encrypt?: boolean | string;
  authenticate?: boolean | string;
  agent?: string;
  public?: string;
  claimed?: string;
}

export interface Sender {
  id?: string;
  number: string;
  channel: "messaging" | "voice";
  provider: string;
  default?: boolean;
  max_concurrent?: number;
  ring_timeout?: string;
  settings: LineSettings;
  breaker?: Breaker;
  [more: string]: unknown;
}

/** Step is a message between a line and its trunk in a test call. */
export interface Step {
  after_ms: number;
  ours: boolean;
  code: number;
  text: string;
}

export interface TestEnd {
  problem: string;
  code: number;
  detail: string;
  answered: boolean;
  talked_ms: number;
  packets: number;
  loud: boolean;
}
