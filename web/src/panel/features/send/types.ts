import type { TemplateComponent } from "../../types";

/** Template is a template of any of the company's senders. */
export interface Template {
  id: string; name: string; language: string; status: string; reason?: string; category: string; sender: string; number: string; provider: string;
  components: TemplateComponent[]; variables: string[]; body: string; version: string;
}

export type Kind = "transactional" | "utility" | "marketing";
export const kinds: Kind[] = ["transactional", "utility", "marketing"];

/** kindOf is the type of notification that a template is usually for. */
export function kindOf(t: { category: string } | undefined): Kind {
  return t?.category === "MARKETING" ? "marketing" : t?.category === "UTILITY" ? "utility" : "transactional";
}
