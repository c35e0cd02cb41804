// The phones of the sandbox, as /panel/v1 has them.
import type { ChatFile } from "../../ui/MediaFile";

/** PhoneCall is a call that the sandbox's phone got. */
export interface PhoneCall {
  id: string;
  call_id: string;
  number: string;
  from: string;
  suffix: string;
  at: string;
  answered_at: string | null;
  ended_at: string | null;
  code: number;
  keys: string;
  heard_ms: number;
}

export interface Phoned {
  data: PhoneCall[];
  behaviours: { suffix: string; effect: string }[];
}

/** Bubble is a message on a phone of the sandbox. */
export interface Bubble {
  id: string;
  own: boolean;
  kind: "template" | "text" | "choices" | "choice" | "file" | "reaction";
  at: string;
  text: string;
  header?: { format: string; text?: string; url?: string };
  footer?: string;
  buttons?: { type: string; text: string; url?: string; phone?: string; payload?: string }[];
  choices?: string[];
  sources?: { title: string; url?: string }[];
  file?: ChatFile;
  read: boolean;
  about?: string;
}

export interface Handset {
  sender: string;
  number: string;
  unreachable: boolean;
  typing: boolean;
  messages: Bubble[];
}

export interface HandsetNumbers {
  senders: { id: string; number: string }[];
  numbers: string[];
}
