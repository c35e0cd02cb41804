// Editing a thing that is stored whole: what is changed, whether it is, and that it is not lost by leaving.
import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useBlocker } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Problem } from "../api";
import { useTexts } from "../i18n";
import { confirm } from "./confirm";
import styles from "./draft.module.css";
import { failed, why } from "./problem";
import { shared } from "./texts";

export interface Draft<T> {
  value: T;
  set: (change: Partial<T>) => void;
  dirty: boolean;
  busy: boolean;
  /** error is what the server said about a field, such as "hours.from"; "" where it said nothing. */
  error: (field: string) => ReactNode;
  /** faulty is the field with the error, such as "hours.from"; "" where there is none. */
  faulty: string;
  /** save stores the value; it reports whether that worked. */
  save: () => Promise<boolean>;
  discard: () => void;
}

/** useDraft keeps a changed copy of what is stored. send stores it and returns what is stored then. */
export function useDraft<T extends object>(stored: T, send: (value: T) => Promise<T>): Draft<T> {
  const [base, setBase] = useState(stored);
  const [value, setValue] = useState(stored);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ field: string; text: ReactNode } | null>(null);
  const dirty = useMemo(() => JSON.stringify(value) !== JSON.stringify(base), [value, base]);
  useEffect(() => {
    // somebody else's change is taken over while there is none of one's own
    setBase((b) => (dirty || JSON.stringify(b) === JSON.stringify(stored) ? b : stored));
    setValue((v) => (dirty || JSON.stringify(v) === JSON.stringify(stored) ? v : stored));
  }, [stored]);
  const current = useRef(value);
  current.current = value;
  const save = useCallback(async () => {
    setBusy(true);
    setProblem(null);
    try {
      const kept = await send(current.current);
      setBase(kept);
      setValue(kept);
      return true;
    } catch (e) {
      if (e instanceof Problem && e.field) setProblem({ field: e.field, text: why(e) });
      failed(e);
      return false;
    } finally {
      setBusy(false);
    }
  }, [send]);
  return {
    value,
    dirty,
    busy,
    save,
    set: useCallback((change: Partial<T>) => {
      setValue((v) => ({ ...v, ...change }));
      setProblem(null);
    }, []),
    error: (field) =>
      problem && (problem.field === field || problem.field.startsWith(field + ".")) ? problem.text : "",
    faulty: problem?.field ?? "",
    discard: useCallback(() => {
      setValue(base);
      setProblem(null);
    }, [base]),
  };
}

/** saveBar is the style of a bar at the bottom of the page. With data-save-bar, the page scrolls a field with the focus above it. */
export const saveBar = styles.bar;

/** SaveBar stands at the bottom of the page while something is changed, and asks before it is lost. */
export function SaveBar<T>({ draft }: { draft: Draft<T> }) {
  const t = useTexts(shared);
  useHotkeys(
    [
      [
        "mod+S",
        () => {
          if (draft.dirty && !draft.busy) void draft.save();
        },
      ],
    ],
    [],
  );
  useBlocker({
    disabled: !draft.dirty,
    enableBeforeUnload: () => draft.dirty,
    shouldBlockFn: async ({ current, next }) =>
      current.pathname !== next.pathname && // another tab of the page loses nothing
      !(await confirm({ title: t.leave, text: t.leaveText, action: t.discard, cancel: t.stay, danger: true })),
  });
  if (!draft.dirty) return null;
  return (
    <div className={styles.bar} data-save-bar="" role="region" aria-label={t.save}>
      <span className="muted">{t.unsaved}</span>
      <Button variant="default" onClick={draft.discard} disabled={draft.busy}>
        {t.discard}
      </Button>
      <Button onClick={() => void draft.save()} loading={draft.busy}>
        {t.save}
      </Button>
    </div>
  );
}
