// The run of the tests before a change is saved.
import { filled } from "../../../ui/English";
import { Button, Group, Progress } from "@mantine/core";
import "@mantine/core/styles/Progress.css";
import { modals } from "@mantine/modals";
import { useSyncExternalStore, type ReactNode } from "react";
import { fill, useTexts } from "../../../i18n";
import type { Agent } from "../types";
import { Note } from "../../../ui/parts";
import { Canceled, problemText } from "../../../ui/problem";
import { shared } from "../../../ui/texts";
import { Conversation } from "./ResultDrawer";
import { getTests, keyOf, runTests, type Order, type Run, type TestResult } from "./run";
import { texts } from "./texts";

interface Tested {
  agent: Agent;
  last: Run | undefined;
}

/**
 * testBefore runs the tests of agents with a change that is not saved yet. It returns at once where there are none,
 * and after the run where all pass; otherwise the member decides. It throws Canceled if the change is not to be saved.
 */
export async function testBefore(agents: Agent[], order: Order): Promise<void> {
  const tested: Tested[] = [];
  for (const agent of agents.filter((a) => a.id && a.engine !== "elevenlabs").slice(0, maxAgents)) {
    const tests = await getTests(agent.id).catch(() => null); // saving does not depend on the tests
    if (tests && tests.suites.some((s) => s.cases > 0)) tested.push({ agent, last: tests.runs[0] });
  }
  if (tested.length === 0) return;
  const t = texts.now;
  const trial = begin(tested, order);
  const save = await new Promise<boolean>((resolve) => {
    const id = modals.open({
      title: t.gateTitle,
      size: "lg",
      closeButtonProps: { "aria-label": shared.now.close },
      onClose: () => resolve(false),
      children: <Gate trial={trial} decide={resolve} />,
    });
    void trial.passed.then((yes) => yes && resolve(true));
    trial.close = () => modals.close(id);
  });
  trial.stop();
  trial.close();
  if (!save) throw new Canceled();
}

const maxAgents = 5; // agents whose tests run before a base is saved

interface Seen {
  done: number;
  cases: number;
  failing: { result: TestResult; fresh: boolean }[] | null; // null until the run is over
  broken: ReactNode;
}

/** Trial is a run under way. */
interface Trial {
  watch: (changed: () => void) => () => void;
  seen: () => Seen;
  passed: Promise<boolean>;
  stop: () => void;
  close: () => void;
}

/** begin runs the tests. A test that fails is fresh if it passed in the run before. */
function begin(tested: Tested[], order: Order): Trial {
  const control = new AbortController();
  const watching = new Set<() => void>();
  let seen: Seen = { done: 0, cases: 0, failing: null, broken: "" };
  const set = (more: Partial<Seen>) => {
    seen = { ...seen, ...more };
    watching.forEach((f) => f());
  };
  const run = async () => {
    const all: { result: TestResult; fresh: boolean }[] = [];
    for (const { agent, last } of tested) {
      const passed = new Set((last?.cases ?? []).filter((c) => c.state === "passed").map(keyOf));
      const { results } = await runTests(agent.id, order, control.signal, (r, cases) => set({ done: r.length, cases }));
      for (const result of results)
        if (result.state === "failed") all.push({ result, fresh: passed.has(keyOf(result)) });
    }
    set({ failing: all.sort((a, b) => Number(b.fresh) - Number(a.fresh)) });
    return all.length === 0;
  };
  return {
    watch: (changed) => {
      watching.add(changed);
      return () => watching.delete(changed);
    },
    seen: () => seen,
    passed: run().catch((e: unknown) => {
      set({ broken: problemText(e) });
      return false;
    }),
    stop: () => {
      if (seen.failing === null) control.abort();
    },
    close: () => undefined,
  };
}

function Gate({ trial, decide }: { trial: Trial; decide: (save: boolean) => void }) {
  const t = useTexts(texts);
  const { done, cases, failing, broken } = useSyncExternalStore(trial.watch, trial.seen);
  const over = failing !== null || broken !== "";
  return (
    <div className="stack">
      {!over && (
        <div role="status">
          <Progress aria-label={t.gateTitle} value={(100 * done) / Math.max(1, cases)} size="sm" mb={8} />
          {fill(t.gateRunning, { n: done, all: cases })}
        </div>
      )}
      {broken && <Note tone="warn">{filled(t.gateBroken, { reason: broken })}</Note>}
      {failing !== null && failing.length > 0 && (
        <>
          <Note tone="danger">
            {fill(t.gateFailed, { n: failing.length })}{" "}
            {failing.some((f) => f.fresh) && fill(t.gateNew, { n: failing.filter((f) => f.fresh).length })}
          </Note>
          <div className="tests-failing">
            {failing.slice(0, 50).map(({ result, fresh }) => (
              <details key={keyOf(result)}>
                <summary>
                  {result.name} {fresh && <span className="tag danger">{t.broke}</span>}
                </summary>
                <Conversation result={result} />
              </details>
            ))}
          </div>
        </>
      )}
      <Group justify="flex-end">
        <Button variant="default" data-autofocus onClick={() => decide(false)}>
          {t.back}
        </Button>
        <Button color={failing?.length ? "red" : undefined} onClick={() => decide(true)}>
          {over ? t.publish : t.skip}
        </Button>
      </Group>
    </div>
  );
}
