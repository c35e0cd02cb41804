import { Button, Checkbox, Group, Modal, Progress, Stack } from "@mantine/core";
import { useRef, useState, type ReactNode } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Note } from "../parts";
import { problemText } from "../problem";
import { listTexts, shared } from "../texts";
import css from "./list.module.css";
import { runAll, type Failure } from "./run";

/** Bulk is an action for the selected rows. */
export interface Bulk<T> {
  id: string;
  label: string;
  icon: ReactNode;
  danger?: boolean;
  /** fits reports whether the action is possible for a row. */
  fits?: (row: T) => boolean;
  /** now does it for all rows together, without a question, such as an export. */
  now?: (rows: T[]) => void;
  /** ask is what is asked before, with {n} for the number of rows. */
  ask?: { title: string; text: string; action: string; option?: string };
  /** run does it for a row; `option` is whether the question's option was chosen. */
  run?: (row: T, option: boolean) => Promise<void>;
  /** after is called once all has run. */
  after?: () => void;
}

/** BulkDialog asks once, shows how far the action is, and reports the rows for which it failed. */
export function BulkDialog<T>({
  bulk,
  rows,
  name,
  close,
}: {
  bulk: Bulk<T>;
  rows: T[]; // that were selected
  name: (row: T) => string;
  close: (failed?: T[]) => void;
}) {
  const t = useTexts(listTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const [among] = useState(() => rows.filter((r) => bulk.fits?.(r) ?? true));
  const [state, set] = useState<{ done: number; failures: Failure<T>[]; phase: "ask" | "runs" | "ended" }>({
    done: 0,
    failures: [],
    phase: "ask",
  });
  const [option, setOption] = useState(false);
  const stopped = useRef(false);
  const n = (x: number) => number(x, language);
  const run = async () => {
    set((now) => ({ ...now, phase: "runs" }));
    await runAll(
      among,
      (row) => bulk.run!(row, option),
      (done, failures) => set({ done, failures, phase: "runs" }),
      () => stopped.current,
    );
    set((now) => ({ ...now, phase: "ended" }));
    bulk.after?.();
  };
  const { done, failures, phase } = state;
  const left = rows.length - among.length;
  const leave = () => {
    if (phase === "runs") return;
    close(phase === "ended" ? failures.map((f) => f.row) : undefined);
  };
  return (
    <Modal
      opened
      onClose={leave}
      title={fill(bulk.ask!.title, { n: n(among.length) })}
      closeButtonProps={{ "aria-label": s.close, disabled: phase === "runs" }}
    >
      <Stack>
        {phase === "ask" && (
          <>
            <p className={css.ask}>{among.length === 0 ? t.fitsNone : bulk.ask!.text}</p>
            {left > 0 && among.length > 0 && (
              <Note>
                <p>{fill(left === 1 ? t.leftOne : t.leftMany, { n: n(left) })}</p>
              </Note>
            )}
            {bulk.ask!.option && among.length > 0 && (
              <Checkbox
                label={bulk.ask!.option}
                checked={option}
                onChange={(e) => setOption(e.currentTarget.checked)}
              />
            )}
          </>
        )}
        {phase !== "ask" && (
          <div role="status" aria-live="polite">
            <Progress value={(100 * done) / among.length} aria-label={bulk.label} transitionDuration={150} mb={8} />
            <span className="small">
              {fill(t.doneOf, { n: n(done - failures.length), all: n(among.length) })}
              {failures.length > 0 &&
                " · " + fill(failures.length === 1 ? t.failedOne : t.failedMany, { n: n(failures.length) })}
              {phase === "ended" && done < among.length && " · " + t.stopped}
            </span>
          </div>
        )}
        {failures.length > 0 && (
          <Note tone="danger">
            <ul className={css.failures}>
              {failures.map((f, i) => (
                <li key={i}>
                  <strong>{name(f.row)}</strong>: {problemText(f.error)}
                </li>
              ))}
            </ul>
          </Note>
        )}
        <Group justify="flex-end">
          {phase === "ask" && (
            <>
              <Button variant="default" onClick={leave} data-autofocus>
                {s.cancel}
              </Button>
              {among.length > 0 && (
                <Button color={bulk.danger ? "red" : undefined} onClick={() => void run()}>
                  {fill(bulk.ask!.action, { n: n(among.length) })}
                </Button>
              )}
            </>
          )}
          {phase === "runs" && (
            <Button
              variant="default"
              onClick={() => {
                stopped.current = true;
              }}
            >
              {t.stop}
            </Button>
          )}
          {phase === "ended" && <Button onClick={leave}>{s.close}</Button>}
        </Group>
      </Stack>
    </Modal>
  );
}
