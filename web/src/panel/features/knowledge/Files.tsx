import { Button, Progress } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useEffect, useRef, useState, type DragEvent } from "react";
import { send } from "../../api";
import { fill, useTexts } from "../../i18n";
import type { Article } from "./types";
import { fileTexts } from "./texts";
import { found, whyNot } from "./files";
import { Review, type Unread } from "./Review";

const maxFile = 25 * 1024 * 1024;
const patience = 180_000;

/** Files takes files that become articles: they are read one after another, then reviewed, then added. */
export function Files({ base, has, add }: { base: string; has: Article[]; add: (all: Article[]) => Promise<void> }) {
  const t = useTexts(fileTexts);
  const input = useRef<HTMLInputElement>(null);
  const stop = useRef<AbortController>(undefined);
  const [over, setOver] = useState(false);
  const [now, setNow] = useState<{ name: string; n: number; all: number }>();
  const [result, setResult] = useState<{ articles: Article[]; unread: Unread[] }>();
  useEffect(() => () => stop.current?.abort(), []);
  const read = async (files: File[]) => {
    if (now || files.length === 0) return;
    const articles: Article[] = [];
    const unread: Unread[] = [];
    stop.current = new AbortController();
    for (const [i, file] of files.entries()) {
      setNow({ name: file.name, n: i + 1, all: files.length });
      try {
        if (file.size > maxFile) {
          unread.push({ name: file.name, why: t.tooBig });
          continue;
        }
        const body = new FormData();
        body.append("file", file);
        const signal = AbortSignal.any([stop.current.signal, AbortSignal.timeout(patience)]);
        articles.push(...(await send("post", "/knowledge/import/file", { body, signal })).articles);
      } catch (e) {
        if (stop.current.signal.aborted) return;
        unread.push({ name: file.name, why: whyNot(e, t) });
      }
    }
    setNow(undefined);
    setResult({ articles, unread });
  };
  return (
    <section
      className="card file-drop"
      aria-label={t.chooseLabel}
      data-over={over ? "yes" : undefined}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e: DragEvent) => {
        e.preventDefault();
        setOver(false);
        void read([...e.dataTransfer.files]);
      }}
    >
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t.chooseLabel}
        accept=".pdf,.docx,.md,.markdown,.html,.htm,.txt,.csv,.tsv"
        onChange={(e) => {
          void read([...(e.currentTarget.files ?? [])]);
          e.currentTarget.value = "";
        }}
      />
      {now ? (
        <div className="file-reading" role="status">
          <span>{fill(t.reading, now)}</span>
          <Progress value={(100 * (now.n - 0.5)) / now.all} animated aria-label={t.chooseLabel} />
        </div>
      ) : (
        <>
          <IconUpload size={22} aria-hidden="true" />
          <div>
            <p>{t.drop}</p>
            <p className="muted small">{t.dropHelp}</p>
          </div>
          <Button variant="default" onClick={() => input.current?.click()}>
            {t.choose}
          </Button>
        </>
      )}
      {result && (
        <Review
          key={base}
          found={found(result.articles, has)}
          unread={result.unread}
          close={() => setResult(undefined)}
          add={add}
        />
      )}
    </section>
  );
}
