// The messages of the conversation socket, as far as a page uses them.

import type { Offer } from "./recogniser";

export interface Source {
  title: string;
  url?: string;
}

/** What the server says. */
export type ServerMessage =
  | {
      type: "conversation_initiation_metadata";
      conversation_initiation_metadata_event: {
        conversation_id: string;
        agent_output_audio_format?: string;
        user_input_audio_format?: string;
        hearing?: "browser" | "server" | "none";
        audio?: "binary";
      };
    }
  | { type: "audio"; audio_event: { audio_base_64: string; event_id: number } }
  | { type: "agent_response"; agent_response_event: { agent_response: string; event_id?: number } }
  | {
      type: "agent_response_correction";
      agent_response_correction_event: {
        original_agent_response: string;
        corrected_agent_response: string;
        event_id?: number;
      };
    }
  | {
      type: "agent_chat_response_part";
      text_response_part: { text: string; type: "start" | "delta" | "stop"; event_id?: number };
    }
  | { type: "user_transcript"; user_transcription_event: { user_transcript: string; event_id?: number } }
  | {
      type: "tentative_user_transcript";
      tentative_user_transcription_event: { user_transcript: string; event_id?: number };
    }
  | { type: "interruption"; interruption_event: { event_id: number } }
  | { type: "ping"; ping_event: { event_id: number; ping_ms?: number } }
  | { type: "vad_score"; vad_score_event: { vad_score: number } }
  | {
      type: "client_tool_call";
      client_tool_call: { tool_name: string; tool_call_id: string; parameters?: Record<string, unknown> };
    }
  | {
      type: "agent_tool_response";
      agent_tool_response: { tool_name: string; tool_call_id: string; is_error?: boolean };
    }
  | { type: "external_agent_connected"; external_agent_connected_event?: { name?: string } }
  | { type: "external_agent_disconnected" }
  | { type: "conversation_state"; conversation_state_event: { state: string; position?: number } }
  | {
      type: "rich_content";
      rich_content: {
        rich_content_id: string;
        component: string;
        props: { choices?: string[]; sources?: Source[] };
        event_id?: number;
      };
    }
  | { type: "turn"; turn_event: { seq: number; author: string; name?: string; text: string } }
  | { type: "error"; error_event: { code?: number; message?: string; error_type?: string; reason?: string } };

/** What a page says first. What the widget does not let pages change is not taken over. */
export interface Initiation {
  language?: string;
  firstMessage?: string;
  /** No sound in either direction. */
  textOnly?: boolean;
  variables?: Record<string, string>;
  /** The browser recognises what is said. */
  hearing?: Offer;
}

export function initiation(o: Initiation): object {
  const agent = {
    ...(o.language && { language: o.language }),
    ...(o.firstMessage && { first_message: o.firstMessage }),
  };
  return {
    type: "conversation_initiation_client_data",
    conversation_config_override: {
      ...(Object.keys(agent).length && { agent }),
      ...(o.textOnly && { conversation: { text_only: true } }),
    },
    ...(o.variables && { dynamic_variables: o.variables }),
    source_info: {
      source: "carillon",
      audio: "binary",
      ...(o.hearing && { hearing: { by: "browser", ...o.hearing } }),
    },
  };
}

/** parse reads a message; what is none is undefined. */
export function parse(data: unknown): ServerMessage | undefined {
  try {
    const m = JSON.parse(String(data));
    return m && typeof m.type === "string" ? m : undefined;
  } catch {
    return undefined;
  }
}

/** toBase64 is that of the bytes of a buffer. */
export function toBase64(buffer: ArrayBuffer): string {
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(text);
}

/** soundOf reads a binary message: the response in four bytes, then its samples, both little-endian. */
export function soundOf(data: ArrayBuffer): { id: number; pcm: Int16Array<ArrayBuffer> } | undefined {
  if (data.byteLength < 4) return undefined;
  const whole = data.byteLength - (data.byteLength % 2);
  return { id: new DataView(data).getUint32(0, true), pcm: new Int16Array(data.slice(4, whole)) };
}

/** samples are those of base64, little-endian; a byte too many at the end is left out. */
export function samples(base64: string): Int16Array<ArrayBuffer> {
  const text = atob(base64);
  const pcm = new Int16Array(text.length >> 1);
  for (let i = 0; i < pcm.length; i++) pcm[i] = text.charCodeAt(2 * i) | (text.charCodeAt(2 * i + 1) << 8);
  return pcm;
}
