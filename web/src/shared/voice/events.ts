// What a talk lets its page know, and what a page says of a talk.
import type { Progress } from "./playout";
import type { Initiation, Source } from "./protocol";
import type { Ears, HearingState } from "./recogniser";
import type { MicProblem } from "./sound";

/** TalkState is one word for what goes on. */
export type TalkState = "idle" | "connecting" | "reconnecting" | "listening" | "thinking" | "speaking" | "ended";

export interface Mic {
  on: boolean;
  muted: boolean;
  problem?: MicProblem;
}

/** How a talk ended: hung up here, ended by the server, refused by it, or the connection lost for good. */
export interface Closing {
  by: "page" | "server" | "refused" | "lost";
  code?: number;
  reason?: string;
  error?: unknown;
}

export interface TalkEvents {
  state: TalkState;
  /** The socket is open; again after each reconnection. */
  ready: { conversation: string; again: boolean };
  heard: { text: string; final: boolean };
  /** A response as far as its text is known. */
  response: { id: number; text: string; whole: boolean };
  corrected: { id: number; text: string };
  interrupted: { id: number };
  /** How far playing has come; about 20 times a second while something plays. */
  progress: Progress;
  choices: { id: number; choices: string[] };
  sources: { id: number; sources: Source[] };
  /** What somebody typed, or said on another screen. */
  turn: { seq: number; author: string; name?: string; text: string };
  moved: { state: string; position?: number };
  /** A teammate talks from now on; undefined: no longer. */
  teammate: { name: string } | undefined;
  tool: { name: string; failed: boolean };
  mic: Mic;
  /** Who understands what is said, and how it goes in a browser that does. */
  hearing: { by: "browser" | "server" | "none"; state?: HearingState; error?: string };
  /** Nothing is heard until hear is called in a click. */
  blocked: boolean;
  problem: { code: string; message: string };
  closed: Closing;
}

export interface TalkOptions extends Initiation {
  /** Of the socket; convai if not given. */
  protocol?: string;
  /** Whether to ask for the microphone at once. */
  mic: boolean;
  /** Those that understand what is said, where the server does not. */
  ears?: Ears;
  /** The other side speaks live: sound is kept close to real time. */
  live?: boolean;
}

/** Tool is run when the agent asks the page for something; what it returns is passed to the agent. */
export type Tool = (parameters: Record<string, unknown>) => unknown;
