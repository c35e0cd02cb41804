// What the search of the palette finds, and where it is shown.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "../api";
import { useCan, useCompany } from "../session";
import type { ShellText } from "./texts";

/** Hit is something that was found. */
export interface Hit {
  kind: string;
  id: string;
  name: string;
  text?: string;
  n?: number;
}

interface Place {
  to: string;
  params?: Record<string, string>;
  search?: Record<string, unknown>;
}

const one =
  (to: string) =>
  ({ id }: Hit): Place => ({ to, params: { id } });

const kinds: Record<string, { text: ShellText; place: (h: Hit) => Place }> = {
  notification: { text: "notification", place: one("/notifications/$id") },
  message: {
    text: "message",
    place: ({ id, n = 0 }) => ({ to: "/notifications/$id", params: { id }, search: { m: n } }),
  },
  number: { text: "notifications", place: ({ text }) => ({ to: "/notifications", search: { number: text } }) },
  call: { text: "call", place: one("/calls/$id") },
  conversation: { text: "conversation", place: ({ id }) => ({ to: "/inbox", search: { id } }) },
  person: { text: "person", place: ({ id }) => ({ to: "/inbox", search: { id } }) },
  template: { text: "template", place: one("/templates/$id") },
  campaign: { text: "campaign", place: ({ id }) => ({ to: "/campaigns/$name", params: { name: id } }) },
  sender: { text: "whatsapp", place: one("/senders/$id") },
  line: { text: "line", place: one("/lines/$id") },
  agent: { text: "agent", place: one("/agents/$id") },
  knowledge: { text: "knowledge", place: one("/knowledge/$id") },
  flow: { text: "flow", place: one("/flows/$id") },
  tool: { text: "tool", place: one("/tools/$id") },
  widget: { text: "widget", place: one("/widgets/$id") },
};

export const kindOf = (h: Hit): ShellText => kinds[h.kind]!.text;
export const placeOf = (h: Hit): Place => kinds[h.kind]!.place(h);

/** useFound is what the company has of a text. */
export function useFound(text: string): Hit[] {
  const company = useCompany();
  const can = useCan()("notifications:read");
  const found = useQuery({
    queryKey: [company.id, "search", text],
    queryFn: ({ signal }) => get("/search", { q: text }, signal),
    enabled: can && text.length > 1,
    placeholderData: keepPreviousData,
  });
  return text.length > 1 ? (found.data?.data ?? []).filter((h) => h.kind in kinds) : [];
}
