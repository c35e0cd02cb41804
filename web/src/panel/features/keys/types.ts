import type { Schemas } from "../../api";
export type Key = Schemas["AccountKeyRow"];

export const scopes = [
  "*",
  "notify:send",
  "notify:read",
  "voice:send",
  "messages:write",
  "templates:read",
  "templates:write",
  "widget:use",
  "suppressions:write",
  "usage:read",
];
