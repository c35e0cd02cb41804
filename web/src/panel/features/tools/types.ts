// Tools that agents call at servers of the company.

/** Localized is a text in several languages, by language. */
export type Localized = Record<string, string>;

export interface Parameter {
  name: string;
  type: "text" | "number" | "integer" | "boolean" | "choice" | "date";
  description?: string;
  required?: boolean;
  choices?: string[];
  pattern?: string;
  question?: Localized;
}

export interface HTTP {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  /** A string is a text that is no JSON yet. */
  body?: unknown;
  pick?: string;
}

/** Approved is a tool of an MCP server as somebody approved it. */
export interface Approved {
  name: string;
  description?: string;
  parameters: unknown;
  hash: string;
  changes?: boolean;
  idempotent?: boolean;
  phrases?: string[];
  title?: Localized;
  questions?: Record<string, Localized>;
  confirm?: Localized;
  say?: Localized;
}

export interface Listed extends Approved {
  fault?: string;
}

export interface Tool {
  id?: string;
  name: string;
  description?: string;
  http?: HTTP;
  mcp?: { url: string; headers?: Record<string, string>; tools: Approved[] };
  title?: Localized;
  parameters?: Parameter[];
  phrases?: string[];
  changes?: boolean;
  idempotent?: boolean;
  confirm?: Localized;
  say?: Localized;
  not_found?: Localized;
  timeout?: number;
  max_response?: number;
  warning?: string;
}

/** Tried is the result of a trial. */
export interface Tried {
  request?: string;
  body?: string;
  status: "ok" | "not_found" | "refused" | "failed" | "unknown";
  code?: number;
  text: string;
  say: string;
  reason?: string;
  ms: number;
}
