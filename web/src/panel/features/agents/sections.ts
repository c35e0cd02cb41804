import type { Agent } from "./types";

/** sections are the tabs with an agent's settings. */
export const sections = ["settings", "voice", "tools", "calls", "review"] as const;
export type Section = (typeof sections)[number];
export type Tab = Section | "tests";

/** tabOf reads the tab in an address; the settings have none. */
export function tabOf(s: Record<string, unknown>): { tab?: Exclude<Tab, "settings"> } {
  const tab = [...sections.slice(1), "tests"].find((x) => x === s.tab);
  return tab ? { tab: tab as Exclude<Tab, "settings"> } : {};
}

/** sectionsOf are the tabs that an agent has. One of an ElevenLabs account has its voice there and makes no calls. */
export function sectionsOf(a: Agent): Section[] {
  const elsewhere = a.engine === "elevenlabs";
  return sections.filter((s) => !elsewhere || !(s === "voice" || s === "calls" || (s === "tools" && !a.server_tools)));
}

const fields: Record<Exclude<Section, "settings">, string[]> = {
  voice: ["voice"],
  tools: ["server_tools", "client_tools"],
  calls: ["transfer", "voicemail", "purpose", "menu_keys", "result", "ask_callers"],
  review: ["goal", "goal_result", "topics"],
};

/** sectionOf is the tab with a field, such as "voice.speaker". */
export function sectionOf(field: string): Section {
  const name = field.split(".")[0]!;
  return sections.find((s) => s !== "settings" && fields[s].includes(name)) ?? "settings";
}
