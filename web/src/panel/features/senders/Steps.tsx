import { IconCheck } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { texts } from "./texts";

/** Steps is how far one is with connecting a number: at counts from 1. */
export function Steps({ at }: { at: number }) {
  const t = useTexts(texts);
  return (
    <ol className="connect-steps" aria-label={t.steps}>
      {[t.step1, t.step2, t.step3, t.step4, t.step5].map((name, i) => (
        <li key={i} aria-current={i + 1 === at ? "step" : undefined} data-done={i + 1 < at || undefined}>
          <span aria-hidden="true">{i + 1 < at ? <IconCheck size={14} /> : i + 1}</span>
          <b>{name}</b>
          {i + 1 < at && <span className="hidden"> {t.stepDone}</span>}
        </li>
      ))}
    </ol>
  );
}
