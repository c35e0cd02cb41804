export interface Hours {
  timezone: string;
  from: string;
  to: string;
  days: string[];
}

export interface Widget {
  id?: string;
  kind: "chat" | "voice";
  name: string;
  agent?: string;
  welcome: string;
  translations: Record<string, string>;
  language: string;
  appearance: { primary_color?: string; position?: string; animation?: string; title?: string };
  allowed_origins: string[];
  talk_to_person?: boolean;
  scores?: boolean;
  texts?: Record<string, Record<string, string>>;
  hours?: Hours;
  identity_secret?: string;
  warning?: string;
  text_input?: boolean;
  transcript?: boolean;
  terms?: string;
  overrides?: string[];
  [more: string]: unknown; // text_input to overrides: of voice widgets
}
