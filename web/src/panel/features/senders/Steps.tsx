import { IconCheck } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { texts } from "./texts";

/** Steps is how far one is with connecting a number: at counts from 1; open are earlier ones that are not done. */
export function Steps({ at, open = [] }: { at: number; open?: number[] }) {
  const t = useTexts(texts);
  return (
    <ol className="connect-steps" aria-label={t.steps}>
      {[t.step1, t.step2, t.step3, t.step4, t.step5].map((name, i) => {
        const left = open.includes(i + 1);
        const done = i + 1 < at && !left;
        return (
          <li
            key={i}
            aria-current={i + 1 === at ? "step" : undefined}
            data-done={done || undefined}
            data-open={left || undefined}
          >
            <span aria-hidden="true">{done ? <IconCheck size={14} /> : i + 1}</span>
            <b>{name}</b>
            {done && <span className="hidden"> {t.stepDone}</span>}
            {left && <span className="hidden"> {t.notVerified}</span>}
          </li>
        );
      })}
    </ol>
  );
}
