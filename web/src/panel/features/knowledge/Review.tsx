import { Button, Checkbox, Group, Modal, Stack } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import type { Article } from "./types";
import { Note, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import type { Found } from "./files";
import { fileTexts } from "./texts";

/** Unread is a file that could not be read. */
export interface Unread {
  name: string;
  why: ReactNode;
}

const page = 100; // rows that are shown at first, and then more

/** Review shows the articles of files before they are added. */
export function Review({
  found,
  unread,
  close,
  add,
}: {
  found: Found[];
  unread: Unread[];
  close: () => void;
  add: (all: Article[]) => Promise<void>;
}) {
  const t = useTexts(fileTexts);
  const s = useTexts(shared);
  const [chosen, setChosen] = useState(() => new Set(found.flatMap((f, i) => (f.duplicate ? [] : [i]))));
  const [shown, setShown] = useState(page);
  const [busy, setBusy] = useState(false);
  const toggle = (i: number) =>
    setChosen((old) => {
      const next = new Set(old);
      if (!next.delete(i)) next.add(i);
      return next;
    });
  const submit = async () => {
    setBusy(true);
    try {
      const n = chosen.size;
      await add(found.filter((_, i) => chosen.has(i)).map((f) => f.article));
      succeeded(n === 1 ? t.addedOne : fill(t.added, { n }));
      close();
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={t.review} size={720} closeButtonProps={{ "aria-label": s.close }}>
      <Stack>
        {unread.map((u, i) => (
          <Note key={i} tone="danger">
            <strong>{u.name}</strong> · {u.why}
          </Note>
        ))}
        {found.length === 0 ? (
          <p className="muted" style={{ margin: 0 }}>
            {t.nothing}
          </p>
        ) : (
          <>
            <p className="muted" style={{ margin: 0 }}>
              {t.reviewHelp}
            </p>
            <Group gap="xs">
              <Button variant="subtle" size="compact-sm" onClick={() => setChosen(new Set(found.keys()))}>
                {t.all}
              </Button>
              <Button variant="subtle" size="compact-sm" onClick={() => setChosen(new Set())}>
                {t.noneChosen}
              </Button>
            </Group>
            <ul className="found review">
              {found.slice(0, shown).map((f, i) => (
                <li key={i}>
                  <Checkbox
                    checked={chosen.has(i)}
                    onChange={() => toggle(i)}
                    label={
                      <>
                        <strong>{f.article.title}</strong> {f.duplicate && <Tag tone="warn">{t.duplicate}</Tag>}
                        <span className="muted review-text">{f.article.text.replace(/\s+/g, " ").slice(0, 160)}</span>
                        <span className="muted small">{f.article.file}</span>
                      </>
                    }
                  />
                </li>
              ))}
            </ul>
            {shown < found.length && (
              <Button variant="default" onClick={() => setShown(shown + page)}>
                {s.more}
              </Button>
            )}
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {found.length === 0 ? s.close : s.cancel}
          </Button>
          {found.length > 0 && (
            <Button disabled={chosen.size === 0} loading={busy} onClick={() => void submit()}>
              {chosen.size === 1 ? t.addOne : fill(t.add, { n: chosen.size })}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
