import { Select, Textarea, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { General, Headers, Limits, mono } from "./fields";
import { Parameters } from "./Parameters";
import { texts } from "./texts";
import type { HTTP, Tool } from "./types";
import { Use } from "./Use";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** HTTPForm edits an HTTP endpoint. */
export function HTTPForm({ draft }: { draft: Draft<Tool> }) {
  const t = useTexts(texts);
  const { value, set, error } = draft;
  const h = value.http!;
  const change = (more: Partial<HTTP>) => set({ http: { ...h, ...more } });
  const bodied = h.method === "POST" || h.method === "PUT" || h.method === "PATCH";
  return (
    <div className="stack">
      <General draft={draft} />
      <Card title={t.request}>
        <div className="form">
          <Select
            label={t.method}
            data={methods}
            allowDeselect={false}
            value={h.method}
            onChange={(method) => change({ method: method as HTTP["method"] })}
            error={error("http.method")}
          />
          <TextInput
            label={t.address}
            description={t.addressHelp}
            spellCheck={false}
            maxLength={2000}
            value={h.url}
            onChange={(e) => change({ url: e.currentTarget.value })}
            error={error("http.url")}
          />
          <Headers value={h.headers} change={(headers) => change({ headers })} error={error("http.headers")} />
          {(bodied || h.body !== undefined) && (
            <Body value={h.body} change={(body) => change({ body })} error={error("http.body")} />
          )}
          <TextInput
            label={t.pick}
            description={t.pickHelp}
            spellCheck={false}
            value={h.pick ?? ""}
            onChange={(e) => change({ pick: e.currentTarget.value || undefined })}
            error={error("http.pick")}
          />
        </div>
      </Card>
      <Parameters draft={draft} />
      <Card title={t.use}>
        <div className="form">
          <Use
            value={{ ...value, changes: value.changes ?? h.method !== "GET" }}
            change={set}
            error={error}
            at=""
            notFound
          />
        </div>
      </Card>
      <Limits draft={draft} />
    </div>
  );
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Body edits a JSON body. A text that is no JSON stays a text, which the server refuses. */
function Body({ value, change, error }: { value: unknown; change: (value: unknown) => void; error: ReactNode }) {
  const t = useTexts(texts);
  const kept = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const [text, setText] = useState(kept);
  const shown = text.trim() ? (read(text) ?? text) : undefined;
  if (JSON.stringify(shown) !== JSON.stringify(value)) setText(kept); // the changes were discarded
  const write = (to: string) => {
    setText(to);
    change(to.trim() ? (read(to) ?? to) : undefined);
  };
  return (
    <Textarea
      label={t.body}
      description={t.bodyHelp}
      autosize
      minRows={2}
      maxRows={14}
      spellCheck={false}
      styles={mono}
      value={text}
      onChange={(e) => write(e.currentTarget.value)}
      error={typeof value === "string" ? t.badBody : error}
    />
  );
}
