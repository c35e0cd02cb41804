import { Told } from "../../ui/Told";
import { Button, Select, Textarea } from "@mantine/core";
import { useState } from "react";
import { post } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Note, Snippet, Tag } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { mono } from "./fields";
import { texts } from "./texts";
import type { Tool, Tried } from "./types";

function objectOf(text: string): Record<string, unknown> | null {
  if (!text.trim()) return {};
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

const tones = { ok: "ok", not_found: "warn", refused: "danger", failed: "danger", unknown: "danger" } as const;

/** example is a possible call of the tool, as JSON. */
function example(tool: Tool, name: string): string {
  const of: Record<string, unknown> = { text: "", number: 1, integer: 1, boolean: true, date: "2026-06-05" };
  const given = tool.mcp
    ? Object.entries(
        (tool.mcp.tools.find((x) => x.name === name)?.parameters as { properties?: Record<string, { type?: string }> })
          ?.properties ?? {},
      ).map(([key, p]) => [key, of[p.type ?? "text"] ?? ""])
    : (tool.parameters ?? []).map((p) => [p.name, p.choices?.[0] ?? of[p.type]]);
  return JSON.stringify(Object.fromEntries(given), null, 2);
}

/** Trial calls a tool as it is stored, and shows the request and the response. */
export function Trial({ tool, changed }: { tool: Tool; changed: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const names = tool.mcp?.tools.map((x) => x.name) ?? [];
  const [chosen, setChosen] = useState("");
  const name = names.includes(chosen) ? chosen : (names[0] ?? "");
  const [text, setText] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState<Tried | null>(null);
  const shown = text ?? example(tool, name);
  const given = objectOf(shown);
  const run = async () => {
    setBusy(true);
    setTried(null);
    try {
      setTried(
        await post(`/tools/${tool.id}/try`, { name: name || undefined, arguments: given ?? undefined, language }),
      );
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="card" aria-label={t.try}>
      <header>
        <h2>{t.try}</h2>
      </header>
      <div className="body form">
        <p className="small muted" style={{ margin: 0 }}>
          {t.tryHelp} {changed && t.saveFirst}
        </p>
        {tool.mcp && (
          <Select
            label={t.tool}
            data={names}
            value={name || null}
            allowDeselect={false}
            onChange={(v) => {
              setChosen(v ?? "");
              setText(null);
            }}
          />
        )}
        <Textarea
          label={t.arguments}
          autosize
          minRows={3}
          maxRows={14}
          spellCheck={false}
          styles={mono}
          value={shown}
          onChange={(e) => setText(e.currentTarget.value)}
          error={given ? undefined : t.badArguments}
        />
        <div>
          <Button loading={busy} disabled={!given || (!!tool.mcp && !name)} onClick={() => void run()}>
            {t.run}
          </Button>
        </div>
        {tried && <Result tried={tried} />}
      </div>
    </section>
  );
}

function Result({ tried: x }: { tried: Tried }) {
  const t = useTexts(texts);
  return (
    <div className="stack" style={{ gap: 12 }} role="status">
      <div>
        <Tag tone={tones[x.status]}>{t[`status_${x.status}`]}</Tag>{" "}
        <span className="small muted">
          {x.code ? x.code + " · " : ""}
          {fill(t.took, { n: x.ms })}
        </span>
      </div>
      {x.reason && (
        <Note tone={x.status === "not_found" ? "warn" : "danger"}>
          <Told text={x.reason} />
        </Note>
      )}
      {x.request && <b className="small">{t.request}</b>}
      {x.request && <Snippet label={t.request} code={x.request + (x.body ? "\n\n" + x.body : "")} />}
      {x.say && (
        <div>
          <b className="small">{t.forPerson}</b>
          <p style={{ margin: 0, overflowWrap: "anywhere" }}>{x.say}</p>
        </div>
      )}
      {x.text && <b className="small">{t.forEngine}</b>}
      {x.text && <Snippet label={t.forEngine} code={x.text} />}
    </div>
  );
}
