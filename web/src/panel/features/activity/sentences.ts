// A change as a sentence: who did what to which object.
import { fill, type TextsOf } from "../../i18n";
import type { Change } from "./types";
import { sentences as words } from "./texts";

type Word = keyof TextsOf<typeof words>;

/** authorName is who changed something, at the beginning of a sentence. */
export function authorName(by: Change["by"], kind: string): string {
  const t = words.now;
  if (by.origin === "channel" && kind === "suppression") return t.recipient;
  if (!by.name) return t[by.origin as Word] ?? by.origin;
  return by.key.startsWith("key:") ? fill(t.byKey, { name: by.name }) : by.name;
}

/** sentence is a change in words. */
export function sentence(c: Change): string {
  const t = words.now;
  const name = c.object.name || c.object.id;
  const what = fill(t[c.object.kind as Word] ?? t.other, { name });
  let how: string = c.action;
  if (how === "password_set" && c.by.name === c.object.name) how = "password_set_own";
  if (how === "created" && c.object.kind === "invitation") how = "invited";
  if (how === "created" && c.object.kind === "job") how = "uploaded";
  if (how === "started" && c.object.kind === "job") how = "startedJob";
  if (how === "added" && !c.object.id) how = "addedMany";
  return fill(t[how as Word] ?? "{who} · {what}", { who: authorName(c.by, c.object.kind), what, name });
}
