import { Button, Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { post, put, send } from "../../../api";
import { fill, useTexts } from "../../../i18n";
import { useCompany } from "../../../session";
import type { Agent } from "../types";
import { confirm } from "../../../ui/confirm";
import { Note } from "../../../ui/parts";
import { failed, problemText, succeeded } from "../../../ui/problem";
import { shared } from "../../../ui/texts";
import { testsKey, type Suite } from "./run";
import { texts } from "./texts";
import type { Running } from "./useRunning";

interface Fault {
  line: number;
  column: number;
  text: string;
}

const first = (language: string) => `name: visitors
language: ${language}
cases:
  - name: opening hours
    turns:
      - say: When are you open?
        expect:
          article: Opening hours
          outcome: answered
`;

/** SuiteEditor edits a suite as YAML and shows the faults in it, each with its line. */
export function SuiteEditor({
  agent,
  suite,
  mayEdit,
  running,
  saved,
  close,
}: {
  agent: Agent;
  suite: Suite | undefined;
  mayEdit: boolean;
  running: Running;
  saved: (id: string) => void;
  close?: () => void;
}) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const before = suite?.source ?? "";
  const [edited, setEdited] = useState<string | null>(suite ? null : first(agent.language));
  const [busy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const source = edited ?? before; // what is stored, until it is changed here
  const dirty = source !== before;
  const [settled] = useDebouncedValue(source, 400);
  const check = useQuery({
    queryKey: [...testsKey(company.id, agent.id), "check", settled],
    queryFn: ({ signal }) => send("post", `/agents/${agent.id}/tests/check`, { body: { source: settled }, signal }),
    enabled: mayEdit && settled.trim() !== "",
    gcTime: 0,
  });
  const faults = settled === source ? (check.data?.problems ?? []) : [];
  useBlocker({
    disabled: !dirty,
    enableBeforeUnload: () => dirty,
    shouldBlockFn: async () =>
      !(await confirm({ title: s.leave, text: s.leaveText, action: s.discard, cancel: s.stay, danger: true })),
  });
  const go = ({ line, column }: Fault) => {
    const to = area.current;
    if (!to) return;
    const lines = source.split("\n");
    const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    to.focus();
    to.setSelectionRange(at + column - 1, at + (lines[line - 1]?.length ?? 0));
    to.scrollTop = Math.max(0, (line - 5) * 20);
  };
  const save = async () => {
    setBusy(true);
    try {
      const body = { agent: agent.id, source };
      const kept = suite ? await put(`/suites/${suite.id}`, body) : await post("/suites", body);
      await client.invalidateQueries({ queryKey: testsKey(company.id, agent.id), exact: true });
      setEdited(null);
      saved(kept.id);
      succeeded(s.saved);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="stack tests-editor">
      <Textarea
        ref={area}
        label={t.source}
        description={check.data && faults.length === 0 ? fill(t.cases, { n: check.data.cases }) : " "}
        classNames={{ input: "tests-source" }}
        autosize
        minRows={12}
        maxRows={32}
        spellCheck={false}
        wrap="off"
        readOnly={!mayEdit}
        value={source}
        onChange={(e) => setEdited(e.currentTarget.value)}
        error={faults.length > 0}
        onKeyDown={(e) => {
          if ((e.ctrlKey || e.metaKey) && e.key === "s") {
            e.preventDefault();
            if (dirty && !busy) void save();
          }
        }}
      />
      {faults.length > 0 && (
        <ul className="tests-faults" role="alert">
          {faults.slice(0, 20).map((f, i) => (
            <li key={i}>
              <button type="button" onClick={() => go(f)}>
                <b>{fill(t.line, { n: f.line })}</b> {f.text}
              </button>
            </li>
          ))}
        </ul>
      )}
      {check.isError && <Note tone="warn">{problemText(check.error)}</Note>}
      {mayEdit && (
        <div className="tests-actions">
          <a href="/docs/reference/agent-tests" target="_blank" rel="noreferrer">
            {t.format}
          </a>
          {close && (
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
          )}
          {dirty && (
            <>
              <Button
                variant="default"
                disabled={faults.length > 0 || !!running.now}
                onClick={() => void running.start({ source })}
              >
                {t.runDraft}
              </Button>
              {suite && (
                <Button variant="default" disabled={busy} onClick={() => setEdited(null)}>
                  {s.discard}
                </Button>
              )}
              <Button loading={busy} disabled={faults.length > 0} onClick={() => void save()}>
                {s.save}
              </Button>
            </>
          )}
        </div>
      )}
    </div>
  );
}
