import type { Texts } from "./texts";

export function time(at: string, language: string): string {
  return new Intl.DateTimeFormat(language || undefined, { hour: "numeric", minute: "2-digit" }).format(new Date(at));
}

export function dayName(at: string, language: string, texts: Texts, now = new Date()): string {
  const day = new Date(at);
  const days = Math.round((midnight(now) - midnight(day)) / 86_400_000);
  if (days === 0) return texts.today;
  if (days === 1) return texts.yesterday;
  return new Intl.DateTimeFormat(language || undefined, {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: day.getFullYear() === now.getFullYear() ? undefined : "numeric",
  }).format(day);
}

function midnight(d: Date): number {
  return new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
}

export function size(bytes: number): string {
  if (bytes < 1024) return bytes + " B";
  if (bytes < 1 << 20) return Math.round(bytes / 1024) + " kB";
  return (bytes / (1 << 20)).toFixed(1) + " MB";
}

export interface Part {
  text: string;
  href?: string;
}

/** links cuts a text into what is a web address and what is not. A closing mark of the sentence is none of the address. */
export function links(text: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const m of text.matchAll(/https?:\/\/[^\s<>"']+/g)) {
    const address = m[0].replace(/[.,;:!?)\]}»”]+$/, "");
    if (!valid(address)) continue;
    if (m.index > at) parts.push({ text: text.slice(at, m.index) });
    parts.push({ text: address, href: address });
    at = m.index + address.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}

function valid(address: string): boolean {
  try {
    return /^https?:$/.test(new URL(address).protocol);
  } catch {
    return false;
  }
}
