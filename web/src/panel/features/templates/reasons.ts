// Why a channel decided as it did, in plain words with the next step.
import type { TextsOf } from "../../i18n";
import { texts } from "./texts";

type Texts = TextsOf<typeof texts>;

const codes = [
  "ABUSIVE_CONTENT",
  "INCORRECT_CATEGORY",
  "INVALID_FORMAT",
  "PROMOTIONAL",
  "SCAM",
  "TAG_CONTENT_MISMATCH",
] as const;

/** explained is the reason of a decision. words are the channel's own, where they say more than the code. */
export function explained(t: Texts, reason: string | undefined): { what: string; next: string; words: string } {
  const text = (reason ?? "").trim();
  const code = codes.find((c) => text === c || text.startsWith(c + ";"));
  if (code) return { what: t[code], next: t[`${code}_next`], words: text.slice(code.length + 1).trim() };
  return { what: "", next: "", words: text === "NONE" ? "" : text };
}
