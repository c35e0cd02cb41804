// Agents, and what they answer, as /panel/v1 has them.
export interface Agent {
  id?: string;
  name: string;
  language: string;
  engine: "builtin" | "openai" | "elevenlabs";
  greeting: string;
  persona?: string;
  knowledge: string[];
  tools: string[];
  openai?: { base_url: string; model: string; api_key?: string; temperature?: number };
  elevenlabs?: { agent_id: string; api_key?: string; base_url?: string };
  voice?: Voice;
  client_tools?: ClientTool[];
  server_tools?: string[];
  record: boolean;
  voicemail?: string;
  result: Result[];
  goal?: string;
  goal_result?: string;
  topics?: Topic[];
  ask_callers?: boolean;
  transfer?: { number: string; phrases?: string[]; message?: string };
  warning?: string;
}

/** Topic is what a conversation may be about. */
export interface Topic {
  name: string;
  words?: string[];
}

/** Result is something that a conversation is to find out. */
export interface Result {
  name: string;
  description?: string;
  type: "text" | "number" | "boolean" | "choice";
  choices?: string[];
  question?: string;
}

export interface Service {
  base_url: string;
  model?: string;
  api_key?: string;
}

export interface Voice {
  speaker: "espeak" | "openai";
  transcriber: "none" | "pocketsphinx" | "openai" | "vosk";
  name?: string;
  speed: number;
  silence_ms: number;
  speaker_service?: Service;
  transcriber_service?: Service;
}

/** ClientTool is something that the page of a voice widget does for the agent. A string as its parameters is what is no JSON yet. */
export interface ClientTool {
  name: string;
  description: string;
  parameters?: Record<string, unknown> | string;
  phrases?: string[];
}

export type Outcome = "answered" | "offered" | "handed_over" | "unanswered";

/** Passage is what an answer is based on. */
export interface Passage {
  knowledge?: string;
  title: string;
  text?: string;
  confidence?: number;
}

export interface Played {
  text: string;
  sources: { title: string; url: string; knowledge?: string; passage?: string; confidence: number }[];
  choices: string[];
  asks?: string;
  handoff?: string;
  end: boolean;
  unanswered: boolean;
  outcome?: Outcome;
  ms: number;
  /** What the agent keeps until the next message. */
  memory?: unknown;
  tools?: ToolUse[];
}

/** ToolUse is a call of a tool by an agent. */
export interface ToolUse {
  tool: string;
  arguments?: string;
  status: "ok" | "not_found" | "refused" | "failed" | "unknown";
  code?: number;
  reason?: string;
  ms: number;
}

/** Address is what a talk is opened with. */
export interface TalkAddress {
  signed_url: string;
  conversation_id: string;
  conversation_token: string;
  expires_at: string;
}
