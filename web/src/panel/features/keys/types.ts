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
