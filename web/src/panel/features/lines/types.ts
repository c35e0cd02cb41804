// Voice lines and their test calls, as /panel/v1 has them.
import type { Schemas } from "../../api";
export type Breaker = Schemas["ChannelsBreakerRow"];

/** Health is how a trunk responded when it was last asked. */
export type Health = Schemas["ChannelsHealthRow"];

/** Registration is that of a line at its trunk. */
export type Registration = Schemas["ChannelsRegistrationRow"];

/** VoiceLine is a line in the list; Sender has its settings. */
export type VoiceLine = Schemas["ChannelsSenderRow"] & { line: Schemas["ChannelsLineRow"] };

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
  register?: boolean | string;
  agent?: string;
  transfer?: string;
  public?: string;
  claimed?: string;
}

/** Sender is a line with its settings, which are free in the description: each provider has its own. */
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
