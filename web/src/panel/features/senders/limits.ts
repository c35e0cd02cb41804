// Words of the channel as people read them.
import { number } from "../../format";

/** people is how many a messaging limit such as TIER_2K allows; null where it allows any number, undefined where the word is unknown. */
export function people(limit: string): number | null | undefined {
  if (limit === "TIER_UNLIMITED") return null;
  const m = /^TIER_(\d+)(K?)$/.exec(limit);
  return m ? Number(m[1]) * (m[2] ? 1000 : 1) : undefined;
}

/** limitText is a messaging limit in words: many has a place {n}. */
export function limitText(limit: string, language: string, t: { limitMany: string; limitAny: string }): string {
  const n = people(limit);
  return n === undefined ? limit : n === null ? t.limitAny : t.limitMany.replace("{n}", number(n, language));
}

/** span is a duration such as 90000 ms in the two largest units that it has. */
export function span(ms: number, language: string): string {
  const s = Math.round(ms / 1000);
  const unit = (n: number, u: string) =>
    new Intl.NumberFormat(language, { style: "unit", unit: u, unitDisplay: "short" }).format(n);
  if (s < 60) return unit(s, "second");
  if (s < 3600) return unit(Math.floor(s / 60), "minute");
  if (s >= 86_400) return unit(Math.floor(s / 86_400), "day");
  const m = Math.floor((s % 3600) / 60);
  return unit(Math.floor(s / 3600), "hour") + (m ? " " + unit(m, "minute") : "");
}
