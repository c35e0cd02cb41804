import { useTexts } from "../../i18n";
import { Tag, type Tone } from "../../ui/parts";
import { type SenderText, texts } from "./texts";
import type { SenderRow } from "./types";

/** stateOf is how a sender is, in a word: what holds its messages back goes before what the last check found. */
export function stateOf(s: Pick<SenderRow, "breaker" | "provider" | "report">): { text: SenderText; tone?: Tone } {
  if (s.breaker.state === "open") return { text: "paused", tone: "danger" };
  if (s.breaker.state === "half_open") return { text: "trying", tone: "warn" };
  if (s.provider === "sandbox") return { text: "ready", tone: "ok" };
  switch (s.report.worst) {
    case "bad":
      return { text: "attention", tone: "danger" };
    case "warn":
      return { text: "warning", tone: "warn" };
    case "ok":
      return { text: "connected", tone: "ok" };
    default:
      return { text: "unchecked" };
  }
}

export function SenderStateTag({ sender }: { sender: Pick<SenderRow, "breaker" | "provider" | "report"> }) {
  const t = useTexts(texts);
  const { text, tone } = stateOf(sender);
  return <Tag tone={tone}>{t[text]}</Tag>;
}

const tones: Record<string, Tone | undefined> = { GREEN: "ok", YELLOW: "warn", RED: "danger" };

/** Quality is how well messages are received, in the channel's rating. */
export function Quality({ rating }: { rating: string }) {
  const t = useTexts(texts) as Record<string, string>;
  if (!rating) return <span className="muted">–</span>;
  return <Tag tone={tones[rating]}>{t[rating] ?? rating}</Tag>;
}
