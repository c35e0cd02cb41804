import { Textarea, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { texts } from "./texts";
import type { Tool } from "./types";

export const mono = { input: { fontFamily: "var(--mono)", fontSize: 13 } };

/** General edits the name and the description of a tool. */
export function General({ draft }: { draft: Draft<Tool> }) {
  const t = useTexts(texts);
  const { value, set, error } = draft;
  return (
    <Card label={t.name}>
      <div className="form">
        <TextInput
          label={t.name}
          description={t.nameHelp}
          spellCheck={false}
          maxLength={48}
          value={value.name}
          onChange={(e) => set({ name: e.currentTarget.value })}
          error={error("name")}
        />
        <Textarea
          label={t.description}
          description={t.descriptionHelp}
          autosize
          maxRows={6}
          maxLength={1000}
          value={value.description ?? ""}
          onChange={(e) => set({ description: e.currentTarget.value || undefined })}
          error={error("description")}
        />
      </div>
    </Card>
  );
}

function lines(all?: Record<string, string>): string {
  return Object.entries(all ?? {})
    .map(([name, value]) => name + ": " + value)
    .join("\n");
}

function parse(text: string): Record<string, string> | undefined {
  const all: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (line.trim()) all[(at < 0 ? line : line.slice(0, at)).trim()] = at < 0 ? "" : line.slice(at + 1).trim();
  }
  return Object.keys(all).length ? all : undefined;
}

/** Headers edits headers as lines. */
export function Headers({
  value,
  change,
  error,
}: {
  value?: Record<string, string>;
  change: (value: Record<string, string> | undefined) => void;
  error: ReactNode;
}) {
  const t = useTexts(texts);
  const [text, setText] = useState(lines(value));
  if (JSON.stringify(parse(text)) !== JSON.stringify(value)) setText(lines(value)); // the changes were discarded
  return (
    <Textarea
      label={t.headers}
      description={t.headersHelp}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      styles={mono}
      value={text}
      onChange={(e) => {
        setText(e.currentTarget.value);
        change(parse(e.currentTarget.value));
      }}
      error={error}
    />
  );
}

/** Limits edits the bounds of a call. */
export function Limits({ draft }: { draft: Draft<Tool> }) {
  const t = useTexts(texts);
  const { value, set, error } = draft;
  const number = (text: string) => (text === "" ? undefined : Number(text));
  return (
    <Card title={t.limits}>
      <div className="pair">
        <TextInput
          label={t.timeout}
          description={t.timeoutHelp}
          type="number"
          min={1}
          max={30}
          value={value.timeout ?? ""}
          onChange={(e) => set({ timeout: number(e.currentTarget.value) })}
          error={error("timeout")}
        />
        <TextInput
          label={t.maxResponse}
          description={t.maxResponseHelp}
          type="number"
          min={256}
          max={262144}
          value={value.max_response ?? ""}
          onChange={(e) => set({ max_response: number(e.currentTarget.value) })}
          error={error("max_response")}
        />
      </div>
    </Card>
  );
}
