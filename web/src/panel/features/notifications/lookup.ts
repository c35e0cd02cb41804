import { get } from "../../api";
import { numberIn } from "../../ui/number";

/** Place is where something that was looked for is shown. */
export interface Place {
  to: string;
  params?: { id: string };
  search?: Record<string, unknown>;
}

/** lookUp is where what a text names is shown: the id of a notification, message or call, ours or the provider's, or a number; undefined: there is none. */
export async function lookUp(text: string): Promise<Place | undefined> {
  const number = numberIn(text);
  if (number) return { to: "/notifications", search: { number } };
  const {
    data: [hit],
  } = await get("/notifications/lookup", { q: text.trim() });
  if (!hit) return undefined;
  if (hit.kind === "number") return { to: "/notifications", search: { number: hit.number || hit.user_id } };
  if (hit.kind === "call") return { to: "/calls/$id", params: { id: hit.id! } };
  return { to: "/notifications/$id", params: { id: hit.id! }, search: hit.kind === "message" ? { m: hit.n } : {} };
}
