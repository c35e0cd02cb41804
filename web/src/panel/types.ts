// What /panel/v1 sends and takes.

export type Role = "owner" | "admin" | "developer" | "marketer" | "teammate" | "viewer";
export const roles: Role[] = ["owner", "admin", "developer", "marketer", "teammate", "viewer"];

export interface Company {
  id: string;
  name: string;
  role: Role;
  permissions: string[];
  suspended: boolean;
}
export interface Me {
  account: { id: string; email: string; name: string };
  companies: Company[];
  first: boolean;
}
export interface Session {
  id: string;
  created_at: string;
  used_at: string;
  expires_at: string;
  address: string;
  agent: string;
  current: boolean;
}

export interface Key {
  id: string;
  label: string;
  key?: string;
  prefix: string;
  scopes: string[];
  is_active: boolean;
  expires_at: string | null;
  revoked_at: string | null;
  last_used: string | null;
  created_at: string;
}
export const scopes = [
  "*",
  "notify:send",
  "notify:read",
  "voice:send",
  "templates:read",
  "templates:write",
  "widget:use",
  "suppressions:write",
  "usage:read",
];

export interface User {
  id: string;
  email: string;
  name: string;
  role: Role;
  last_sign_in_at: string | null;
  created_at: string;
  second_factor: boolean;
}

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
/** Review is the judgment of a conversation after its end. */
export interface Review {
  summary: string;
  goal?: { goal: string; reached: "yes" | "no" | "unknown"; reason: string };
  result?: Record<string, string | number | boolean>;
  topics: string[];
  by: string;
  failure?: string;
  turn: number;
  ended_at: string;
  at: string;
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
export interface Found {
  knowledge: string;
  title: string;
  text: string;
  url: string;
  score: number;
  answers: boolean;
}
export interface OpenQuestion {
  id: string;
  agent_id: string;
  agent_name: string;
  question: string;
  language: string;
  count: number;
  offered?: number;
  wrong?: number;
  answer?: Passage;
  first_at: string;
  last_at: string;
  conversation_id: string;
}

/** QuestionGroup is open questions about one subject. */
export interface QuestionGroup {
  id: string;
  questions: string[];
  examples: OpenQuestion[];
  languages: string[];
  agents: string[];
  count: number;
  offered: number;
  wrong: number;
  last_at: string;
  knowledge: string[];
  nearest?: {
    knowledge: string;
    article: number;
    title: string;
    passage: string;
    confidence: number;
    answers: boolean;
  };
}

export interface Article {
  title: string;
  text: string;
  url: string;
  language?: string;
  questions?: string[];
  /** file and site are the name of the file, and the id of the site, from which it came. */
  file?: string;
  site?: string;
}
/** Site is a web site whose pages are articles of a base. */
export interface Site {
  id: string;
  name: string;
  knowledge: string;
  address: string;
  include: string[];
  exclude: string[];
  max_pages: number;
  warning?: string;
}
/** SiteLook is a look at a site that found a change or a fault. */
export interface SiteLook {
  id: string;
  at: string;
  pages: number;
  added: number;
  changed: number;
  removed: number;
  kept: number;
  fault: string;
  detail: string;
}
export interface SiteState {
  reading: boolean;
  done: number;
  found: number;
  looked_at: string | null;
  read_at: string | null;
  due_at: string;
  fault: string;
  detail: string;
  looks: SiteLook[];
}
export interface SiteChange {
  kind: string;
  url: string;
  title: string;
  before: string;
  after: string;
  cut?: boolean;
}
export interface Base {
  id: string;
  articles: Article[];
  warning?: string;
  [more: string]: unknown;
}

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

export type State = "bot" | "queued" | "active" | "wrap_up" | "resolved" | "missed" | "abandoned";
export type Author = "visitor" | "agent" | "teammate" | "system";

export interface Conversation {
  id: string;
  channel: string;
  widget_id?: string;
  agent_id?: string;
  contact_id: string;
  state: State;
  state_at: string;
  assignee?: string;
  language?: string;
  page?: string;
  tags: string[];
  last_seq: number;
  last_at: string;
  last_author?: Author;
  last_text: string;
  visitor_seq: number;
  company_seq: number;
  seen_seq: number;
  unread: boolean;
  rating?: number;
  comment?: string;
  opened_at: string;
  resolved_at?: string;
}
export interface Listed extends Conversation {
  name?: string;
  email?: string;
  number?: string;
  username?: string;
  group?: boolean;
}
export interface Counts {
  mine: number;
  unassigned: number;
  automated: number;
  all: number;
}
export interface ChatFile {
  id: string;
  name: string;
  type: string;
  size: number;
  url?: string;
}
export interface Turn {
  seq: number;
  author: Author;
  kind: "text" | "choices" | "choice" | "file" | "event";
  text: string;
  at: string;
  client_id?: string;
  note?: boolean;
  account_id?: string;
  name?: string;
  choices?: string[];
  sources?: { title: string; url?: string }[];
  /** Of a response to a question: its outcome, what it is based on, and what the visitor thinks of it. */
  outcome?: Outcome;
  passages?: Passage[];
  score?: "like" | "dislike";
  file?: ChatFile;
  event?: string;
  /** tools are the calls of the event tool_called. */
  tools?: ToolUse[];
  rating?: number;
  voice?: Aloud;
  notification?: string;
  run?: string;
  /** about is the beginning of the message that this one answers or reacts to, of its turn; why is the reason why a file is missing. */
  about?: string;
  of?: number;
  why?: string;
  form?: Answer[];
  order?: Order;
  cards?: Card[];
  product?: { catalog_id?: string; product_id: string };
  referral?: Referral;
  group?: string;
}
/** Answer is one field of a form. */
export interface Answer {
  name: string;
  question: string;
  answer: string;
}
/** Order is a contact's order from a catalog, with numbers as the channel has them. */
export interface Order {
  catalog_id?: string;
  text?: string;
  items: { product_id: string; quantity: string; price?: string; currency?: string }[];
}
export interface Card {
  name?: string;
  company?: string;
  title?: string;
  birthday?: string;
  numbers?: string[];
  emails?: string[];
  urls?: string[];
  addresses?: string[];
}
/** Referral is the ad or post that led to a message. */
export interface Referral {
  source_type?: string;
  source_id?: string;
  source_url?: string;
  headline?: string;
  body?: string;
}
/** Aloud is how a turn was said: times in milliseconds, and of a response that was cut what was heard of it. */
export interface Aloud {
  length_ms?: number;
  detect_ms?: number;
  transcribe_ms?: number;
  think_ms?: number;
  first_audio_ms?: number;
  cut?: boolean;
  heard?: string;
}
/** Address is what a talk is opened with. */
export interface TalkAddress {
  signed_url: string;
  conversation_id: string;
  conversation_token: string;
  expires_at: string;
}
export interface Contact {
  id: string;
  name: string;
  email: string;
  number: string;
  user_id?: string;
  username?: string;
  language: string;
  verified: boolean;
  visitor_id: string;
  created_at: string;
  seen_at: string;
}
export interface Thread {
  conversation: Conversation;
  contact: Contact;
  turns: Turn[];
  more: boolean;
  window?: ReplyWindow;
  review?: Review;
  deliveries?: Delivery[];
}
/** ReplyWindow is until when replies may be sent over a messaging channel, to whom and by whom. */
export interface ReplyWindow {
  until: string;
  number: string;
  user_id?: string;
  sender_id: string;
  sender: string;
  provider: string;
}
/** Delivery is where a reply over a messaging channel stands. */
export interface Delivery {
  seq: number;
  state: "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "unknown";
  reason?: string;
  detail?: string;
}
/** TemplateComponent is a part of a template. */
export interface TemplateComponent {
  type: string;
  format?: string;
  text?: string;
  example?: TemplateExample;
  buttons?: TemplateButton[];
}
export interface TemplateButton {
  type: string;
  text: string;
  url?: string;
  phone_number?: string;
  example?: string[];
}
/** TemplateExample has the sample values for the reviewer, in the channel's form. */
export interface TemplateExample {
  header_text?: string[];
  header_handle?: string[];
  header_text_named_params?: NamedSample[];
  body_text?: string[][];
  body_text_named_params?: NamedSample[];
}
export interface NamedSample {
  param_name: string;
  example: string;
}
/** Offered is an approved template, with the keys of the values that it needs. */
export interface Offered {
  name: string;
  language: string;
  category: string;
  components: TemplateComponent[];
  needs: string[];
}
export interface Teammate {
  account_id: string;
  name: string;
  email: string;
  role: Role;
  present: boolean;
  away: boolean;
}
export interface Reply {
  id: string;
  shortcut: string;
  text: string;
}

/** Update is the data of the event conversation.updated. */
export interface Update {
  v: number;
  conversation: Conversation;
  turns: Turn[];
  review?: Review;
}
/** Passing is the data of the events typing and viewing. */
export interface Passing {
  conversation_id: string;
  author: Author;
  name?: string;
  account_id?: string;
}
/** Presence is the data of the event presence. */
export interface Presence {
  account_id: string;
  name: string;
  present: boolean;
  away: boolean;
}

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
