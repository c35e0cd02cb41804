import { filled } from "../../ui/English";
import { Told } from "../../ui/Told";
import { Button, Checkbox, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import { Card, Note, Tag } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { General, Headers, Limits } from "./fields";
import { texts } from "./texts";
import type { Approved, Listed, Tool } from "./types";
import { Use } from "./Use";

/** MCPForm edits an MCP server and approves its tools. */
export function MCPForm({ draft, stored, can }: { draft: Draft<Tool>; stored: Tool; can: boolean }) {
  const t = useTexts(texts);
  const { value, set, error } = draft;
  const m = value.mcp!;
  const change = (more: Partial<NonNullable<Tool["mcp"]>>) => set({ mcp: { ...m, ...more } });
  const [remote, setRemote] = useState<{ tools: Listed[]; reason?: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const same = JSON.stringify([m.url, m.headers]) === JSON.stringify([stored.mcp?.url, stored.mcp?.headers]);
  const read = async () => {
    setBusy(true);
    try {
      setRemote(await get(`/tools/${stored.id}/remote`));
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const missing = m.tools.filter((a) => !remote?.tools.some((x) => x.name === a.name));
  return (
    <div className="stack">
      <General draft={draft} />
      <Card title={t.request}>
        <div className="form">
          <TextInput
            label={t.address}
            description={t.mcpAddressHelp}
            spellCheck={false}
            maxLength={2000}
            value={m.url}
            onChange={(e) => change({ url: e.currentTarget.value })}
            error={error("mcp.url")}
          />
          <Headers value={m.headers} change={(headers) => change({ headers })} error={error("mcp.headers")} />
        </div>
      </Card>
      <Card
        title={t.allowed}
        actions={
          can && (
            <Button
              variant="default"
              size="compact-sm"
              loading={busy}
              disabled={!same}
              title={same ? undefined : t.saveFirst}
              onClick={() => void read()}
            >
              {t.read}
            </Button>
          )
        }
      >
        <div className="form">
          <p className="muted" style={{ margin: 0 }}>
            {t.allowedHelp}
          </p>
          {remote?.reason && (
            <Note tone="danger">{filled(t.readFailed, { reason: <Told text={remote.reason} /> })}</Note>
          )}
          {remote && !remote.reason && remote.tools.length === 0 && <Note>{t.none}</Note>}
          {remote?.tools.map((x) => (
            <One key={x.name} listed={x} all={m.tools} keep={(tools) => change({ tools })} error={error} />
          ))}
          {missing.map((a) => (
            <One
              key={a.name}
              listed={a}
              all={m.tools}
              keep={(tools) => change({ tools })}
              error={error}
              about={remote && !remote.reason ? t.gone : t.unread}
            />
          ))}
        </div>
      </Card>
      <Limits draft={draft} />
    </div>
  );
}

/** One is a tool of the server: allowed or not, and how it is used. */
function One({
  listed: x,
  all,
  keep,
  error,
  about,
}: {
  listed: Listed;
  all: Approved[];
  keep: (all: Approved[]) => void;
  error: (field: string) => ReactNode;
  about?: string;
}) {
  const t = useTexts(texts);
  const i = all.findIndex((a) => a.name === x.name);
  const have = all[i];
  const changed = have && !about && have.hash !== x.hash;
  const { fault, ...approved } = x;
  const change = (more: Partial<Approved>) => keep(all.map((a, n) => (n === i ? { ...a, ...more } : a)));
  return (
    <fieldset className="tool" aria-label={x.name}>
      <Checkbox
        label={<code>{x.name}</code>}
        aria-label={fill(t.allow, { name: x.name })}
        description={x.description}
        disabled={!!fault && !have}
        checked={!!have}
        onChange={(e) => keep(e.currentTarget.checked ? [...all, approved] : all.filter((a) => a.name !== x.name))}
      />
      {fault && <Note tone="warn">{fault}</Note>}
      {about && <p className="small muted">{about}</p>}
      {changed && (
        <Note tone="warn">
          <Tag tone="warn">{t.changed}</Tag>{" "}
          {!fault && (
            <Button
              variant="default"
              size="compact-sm"
              onClick={() =>
                change({ description: x.description, parameters: x.parameters, hash: x.hash, questions: undefined })
              }
            >
              {t.approve}
            </Button>
          )}
        </Note>
      )}
      {have && <Use value={have} change={change} error={error} at={`mcp.tools.${i}.`} />}
      {have && error(`mcp.tools.${i}.hash`) && <Note tone="danger">{error(`mcp.tools.${i}.hash`)}</Note>}
    </fieldset>
  );
}
