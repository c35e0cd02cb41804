import type { Change } from "./types";

export interface ObjectLink {
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
  needs: string;
}

const one =
  (to: string, needs: string) =>
  (id: string): ObjectLink => ({ to: to + "/$id", params: { id }, needs });

const links: Record<string, (id: string) => ObjectLink> = {
  key: () => ({ to: "/keys", needs: "keys:read" }),
  user: () => ({ to: "/users", needs: "users:read" }),
  invitation: () => ({ to: "/users", needs: "users:read" }),
  sender: one("/senders", "senders:read"),
  company: () => ({ to: "/settings", needs: "settings:read" }),
  template: one("/templates", "templates:read"),
  agent: one("/agents", "resources:read"),
  knowledge: one("/knowledge", "resources:read"),
  flow: one("/flows", "resources:read"),
  widget: one("/widgets", "resources:read"),
  notification: one("/notifications", "notifications:read"),
  call: one("/calls", "notifications:read"),
  suppression: (number) => ({ to: "/suppressions", search: { number }, needs: "notifications:read" }),
  prices: () => ({ to: "/usage", needs: "notifications:read" }),
  job: (job) => ({ to: "/send/$job", params: { job }, needs: "notifications:send" }),
};

/** objectLink is the page of what was changed; undefined: it has none. */
export function objectLink(o: Change["object"]): ObjectLink | undefined {
  return o.id ? links[o.kind]?.(o.id) : undefined;
}
