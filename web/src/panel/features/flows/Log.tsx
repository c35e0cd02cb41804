import { fill, useTexts, type TextsOf } from "../../i18n";
import { Told } from "../../ui/Told";
import { kindText } from "./Icons";
import { kinds, numberOf, type Kind } from "./model";
import { runTexts, type FlowTexts, texts } from "./texts";
import type { Entry } from "./types";

type RunTexts = TextsOf<typeof runTexts>;

/** entryText is what happened, in a few words. */
export function entryText(e: Entry, t: FlowTexts, r: RunTexts): string {
  const kind = kinds.includes(e.kind as Kind)
    ? kindText(e.kind as Kind, t)
    : ((
        {
          response: r.kindResponse,
          retry: r.kindRetry,
          repeat: r.kindRepeat,
          outcome: r.kindOutcome,
          failed: r.kindFailed,
          stopped: r.kindStopped,
        } as Record<string, string>
      )[e.kind] ?? e.kind);
  const text = e.kind === "if" ? (e.text === "then" ? r.wentThen : r.wentElse) : e.text;
  return text ? `${kind}: ${text}` : kind;
}

/** Changed are the variables that a step changed. */
export function Changed({ of: values }: { of?: Record<string, string> }) {
  const all = Object.entries(values ?? {});
  if (all.length === 0) return null;
  return (
    <span className="flow-changed">
      {all.map(([n, v]) => (
        <code key={n}>
          {n} = {v || "“”"}
        </code>
      ))}
    </span>
  );
}

/** FailedAt is the step at which a run failed, and why. */
export function FailedAt({ error }: { error: string }) {
  const t = useTexts(texts);
  const r = useTexts(runTexts);
  const path = /^(steps[^:]*): /.exec(error)?.[1];
  return (
    <>
      {path && (
        <p>
          <strong>{fill(r.error, { n: numberOf(path, t.yes, t.no) })}</strong>
        </p>
      )}
      <p>
        <Told text={path ? error.slice(path.length + 2) : error} />
      </p>
    </>
  );
}

/** Place is the number of a step, which shows the step where somebody clicks it. */
export function Place({ path, choose }: { path: string; choose?: (path: string) => void }) {
  const t = useTexts(texts);
  const r = useTexts(runTexts);
  if (path === "end") return <span className="flow-place">{r.atEnd}</span>;
  const n = numberOf(path, t.yes, t.no);
  return choose ? (
    <button
      type="button"
      className="flow-place"
      aria-label={fill(t.stepN, { n })}
      title={r.toStep}
      onClick={() => choose(path)}
    >
      {n}
    </button>
  ) : (
    <span className="flow-place">{n}</span>
  );
}
