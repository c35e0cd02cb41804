import { useLanguage, useTexts } from "../../i18n";
import type { Step } from "./types";
import { type TestText, testTexts } from "./texts";

/** meaning is what a message says, in words. Those before it decide what an INVITE or a 200 means. */
export function meaning(step: Step, before: Step[]): TestText {
  const has = (text: string) => before.some((s) => s.ours && s.text.startsWith(text));
  if (step.ours) {
    const [method] = step.text.split(/[ ,]/);
    if (method === "INVITE") return has("INVITE") ? "inviteAgain" : "invite";
    return method === "ACK" ? "ack" : method === "CANCEL" ? "cancel" : method === "OPTIONS" ? "options" : "bye";
  }
  const c = step.code;
  if (c === 0) return "sbye";
  if (c < 300)
    return c === 100
      ? "s100"
      : c === 180
        ? "s180"
        : c === 183
          ? "s183"
          : c < 200
            ? "s18x"
            : has("BYE")
              ? "s200bye"
              : "s200";
  if (c < 400) return "s3xx";
  const known: Record<number, TestText> = {
    401: "s401",
    407: "s401",
    403: "s403",
    404: "s404",
    410: "s404",
    484: "s404",
    604: "s404",
    408: "s408",
    480: "s408",
    486: "s486",
    600: "s486",
    487: "s487",
    415: "s488",
    488: "s488",
    606: "s488",
    603: "s603",
    607: "s603",
    608: "s603",
  };
  return known[c] ?? (c >= 500 && c < 600 ? "s5xx" : "sother");
}

/** label is the message itself: its address is long, and says nothing that the form does not. */
const label = (s: Step): string => s.text.replace(/^(INVITE|OPTIONS) .*$/, "$1");

/** bad marks what ends a call that should have gone on; being asked for a password does not. */
const bad = (s: Step, last: boolean): boolean =>
  s.code >= 400 && s.code !== 487 && (last || (s.code !== 401 && s.code !== 407));

/** Ladder is the picture of a call: both sides, and what goes from one to the other. */
export function Ladder({ steps, waiting, far }: { steps: Step[]; waiting: boolean; far: string }) {
  const t = useTexts(testTexts);
  const seconds = new Intl.NumberFormat(useLanguage(), { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return (
    <div className="ladder">
      <div className="ladder-ends" aria-hidden="true">
        <span>{t.us}</span>
        <span className="cut">{far}</span>
      </div>
      <ol aria-label={t.picture} aria-live="polite">
        {steps.map((s, i) => (
          <li
            key={i}
            className={
              (s.ours ? "ours" : "theirs") +
              (bad(s, i === steps.length - 1) ? " bad" : s.code >= 200 && s.code < 300 ? " good" : "")
            }
          >
            <div className="ladder-lane">
              <span className="ladder-message mono">{label(s)}</span>
              <i aria-hidden="true" />
            </div>
            <div className="ladder-words">
              <span className="muted">{seconds.format(s.after_ms / 1000)} s</span>{" "}
              <span>
                <span className="hidden">{s.ours ? t.us : far} </span>
                {t[meaning(s, steps.slice(0, i))]}
              </span>
            </div>
          </li>
        ))}
      </ol>
      {waiting && (
        <p className="ladder-wait muted flat" role="status">
          {steps.at(-1)?.text === "ACK" ? t.answered : t.waiting}
        </p>
      )}
    </div>
  );
}
