// What the routes of flows send and take.

export interface Http {
  method?: string;
  url: string;
  headers?: Record<string, string>;
  body?: string;
  save?: Record<string, string>;
  status?: string;
}
export interface SendTemplate {
  name: string;
  language: string;
  sender?: string;
  type?: string;
  campaign?: string;
  variables?: Record<string, string>;
}
export interface PlaceCall {
  agent: string;
  line?: string;
  campaign?: string;
}

/** Step has one of the keys of kinds; the others belong to one of them. */
export interface Step {
  id?: string;
  say?: string;
  ask?: string;
  choices?: string[];
  accept?: string;
  retry?: string;
  retries?: number;
  if?: string;
  then?: Step[];
  else?: Step[];
  set?: Record<string, string>;
  http?: Http;
  wait?: string;
  send_template?: SendTemplate;
  place_call?: PlaceCall;
  goto?: string;
  handoff?: string;
  end?: boolean;
}
export interface Trigger {
  event?: string;
  keywords?: string[];
  widget?: string;
  inbound?: boolean;
}
export interface Flow {
  name: string;
  trigger: Trigger;
  steps: Step[];
}

export interface Fault {
  field: string;
  reason: string;
  rule?: string;
  values?: Record<string, string>;
}
export interface Editable {
  id: string;
  flow: Flow;
  saved_at: string | null;
  published: boolean;
  version: number;
  faults: Fault[];
}
export interface FlowRow {
  id: string;
  name: string;
  trigger: Trigger | null;
  steps: number;
  version: number;
  draft_at: string | null;
  runs_day: number;
  last_failure: { run_id: string; at: string; error: string } | null;
}
export interface Version {
  version: number;
  created_at?: string;
  current: boolean;
  flow?: Flow;
}
export interface Template {
  name: string;
  language: string;
  status: string;
  category: string;
  sender: string;
  variables: string[];
  body: string;
}

export type RunState = "ready" | "asking" | "waiting" | "calling" | "completed" | "handed_off" | "stopped" | "failed";
export interface RunRow {
  id: string;
  flow_id: string;
  flow: string;
  version: number;
  conversation_id: string;
  name: string;
  number: string;
  username?: string;
  channel: string;
  cause: string;
  event: string;
  notification_id: string;
  state: RunState;
  open: boolean;
  path: string;
  steps: number;
  error: string;
  due_at: string | null;
  started_at: string;
  changed_at: string;
}
export interface Entry {
  at?: string;
  path: string;
  kind: string;
  text?: string;
  changed?: Record<string, string>;
}
export interface Run extends RunRow {
  variables: Record<string, string> | null;
  question: string;
  entries: Entry[];
  definition: Flow | null;
}

export interface Input {
  kind: "response" | "outcome" | "wait";
  text?: string;
  values?: Record<string, string>;
  status?: string;
  refused?: boolean;
}
export interface Effect {
  kind: "http" | "send_template" | "place_call";
  http?: Http;
  send_template?: SendTemplate;
  place_call?: PlaceCall;
}
export interface TriedTurn {
  input: number;
  after_ms: number;
  said: { text: string; choices?: string[] }[];
  log: Entry[];
  handoff?: string;
  resolve?: boolean;
}
export interface Tried {
  turns: TriedTurn[];
  state: RunState;
  path: string;
  values: Record<string, string>;
  choices: string[];
  effect: Effect | null;
  wait_ms?: number;
  steps: number;
  error?: string;
}
