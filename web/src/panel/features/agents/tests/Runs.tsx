import { Button, Checkbox, Progress } from "@mantine/core";
import "@mantine/core/styles/Progress.css";
import { IconCheck, IconMinus, IconPlayerPlay, IconPlayerSkipForward, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { fill, useTexts } from "../../../i18n";
import { Ago } from "../../../ui/Ago";
import { Card } from "../../../ui/parts";
import { ResultDrawer } from "./ResultDrawer";
import { keyOf, type Run, type State, type Sum } from "./run";
import { texts } from "./texts";
import type { Running } from "./useRunning";

const side = 6; // runs side by side

const icons = { passed: IconCheck, failed: IconX, skipped: IconPlayerSkipForward };

/** useSummary is the numbers of a run in words. */
export function useSummary(): (sum: Pick<Sum, "passed" | "failed" | "skipped">) => string {
  const t = useTexts(texts);
  return (sum) =>
    fill(sum.skipped ? t.summarySkipped : t.summary, { passed: sum.passed, failed: sum.failed, skipped: sum.skipped });
}

/** Runs are the last runs side by side, newest first: a row for each test. */
export function Runs({
  agent,
  runs,
  running,
  mayRun,
}: {
  agent: string;
  runs: Run[];
  running: Running;
  mayRun: boolean;
}) {
  const t = useTexts(texts);
  const summary = useSummary();
  const [open, setOpen] = useState<{ run: string; test: string } | null>(null);
  const [few, setFew] = useState(true);
  const shown = runs.slice(0, side);
  const states = runs.map((r) => new Map(r.cases.map((c) => [keyOf(c), c.state])));
  const tests = [...new Map(shown.flatMap((r) => r.cases).map((c) => [keyOf(c), c])).values()];
  const changed = (test: string, at: number) => {
    const now = states[at]?.get(test);
    const then = states[at + 1]?.get(test);
    return !!now && !!then && now !== then;
  };
  const rows = tests.filter((c) => {
    const test = keyOf(c);
    return !few || states[0]?.get(test) === "failed" || shown.some((_, i) => changed(test, i));
  });
  const now = running.now;
  return (
    <Card
      flush
      title={t.runs}
      actions={
        <div className="tests-actions">
          {runs.length > 0 && (
            <Checkbox size="xs" label={t.onlyChanged} checked={few} onChange={(e) => setFew(e.currentTarget.checked)} />
          )}
          {now ? (
            <Button variant="default" size="compact-sm" onClick={running.stop}>
              {t.stop}
            </Button>
          ) : (
            mayRun && (
              <Button
                size="compact-sm"
                leftSection={<IconPlayerPlay size={14} />}
                onClick={() => void running.start({})}
              >
                {t.run}
              </Button>
            )
          )}
        </div>
      }
    >
      {now && (
        <div className="body" role="status">
          <Progress
            aria-label={t.runs}
            value={(100 * now.done) / Math.max(1, now.cases)}
            color={now.failed ? "red" : undefined}
            size="sm"
            mb={6}
          />
          {fill(t.running, { n: now.done, all: now.cases })}
        </div>
      )}
      {runs.length === 0 ? (
        !now && <p className="body muted">{t.noRuns}</p>
      ) : (
        <div className="table-wrap">
          <table className="table tests-runs">
            <thead>
              <tr>
                <th>{t.test}</th>
                {shown.map((r) => (
                  <th key={r.id} title={summary(r) + " · " + r.author}>
                    <Ago at={r.begun_at} />
                    <span className="tests-sum">
                      {t[r.origin]} · {r.passed}/{r.passed + r.failed + r.skipped}
                    </span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.length === 0 && (
                <tr>
                  <td colSpan={shown.length + 1} className="muted">
                    {t.allPass}
                  </td>
                </tr>
              )}
              {rows.map((c) => (
                <tr key={keyOf(c)}>
                  <td>{c.name}</td>
                  {shown.map((r, i) => (
                    <td key={r.id}>
                      <Cell
                        name={c.name}
                        state={states[i]!.get(keyOf(c))}
                        changed={changed(keyOf(c), i)}
                        open={() => setOpen({ run: r.id, test: keyOf(c) })}
                      />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ResultDrawer agent={agent} shown={open} close={() => setOpen(null)} />
    </Card>
  );
}

function Cell({
  name,
  state,
  changed,
  open,
}: {
  name: string;
  state: State | undefined;
  changed: boolean;
  open: () => void;
}) {
  const t = useTexts(texts);
  if (!state)
    return (
      <span className="tests-none" title={t.missing}>
        <IconMinus size={14} aria-hidden="true" />
        <span className="hidden">{t.missing}</span>
      </span>
    );
  const Icon = icons[state];
  const label = t[state] + (changed ? " · " + (state === "failed" ? t.broke : t.mended) : "");
  return (
    <button
      type="button"
      className={`tests-cell ${state}${changed ? " changed" : ""}`}
      title={label}
      aria-label={`${name}: ${label}`}
      onClick={open}
    >
      <Icon size={15} aria-hidden="true" />
    </button>
  );
}
