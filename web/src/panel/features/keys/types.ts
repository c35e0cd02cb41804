import type { Schemas } from "../../api";
export type Key = Schemas["AccountKeyRow"];

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
