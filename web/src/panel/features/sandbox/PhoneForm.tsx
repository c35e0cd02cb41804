import { phone } from "../../ui/number";
import { Button, Select, TextInput } from "@mantine/core";
import { IconPhoneCall } from "@tabler/icons-react";
import { useState, type FormEvent } from "react";
import { useTexts } from "../../i18n";
import type { Agent } from "../agents/types";
import type { VoiceLine } from "../lines/types";
import { Note } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { doesOf, texts } from "./texts";
import { useCalling, usePhone } from "./usePhone";

/** PhoneForm has an agent call the sandbox's phone. agents has one where the page is about that one. */
export function PhoneForm({
  lines,
  agents,
  called,
}: {
  lines: VoiceLine[];
  agents: Agent[];
  called: (c: { call_id: string; number: string }) => void;
}) {
  const t = useTexts(texts);
  const call = useCalling();
  const behaviours = usePhone().data?.behaviours ?? [];
  const [line, setLine] = useState(lines[0]?.id ?? "");
  const [agent, setAgent] = useState(agents[0]?.id ?? "");
  const [suffix, setSuffix] = useState("");
  const [name, setName] = useState("Ana");
  const [sending, setSending] = useState(false);
  if (agents.length === 0) return <Note tone="warn">{t.noAgent}</Note>;
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setSending(true);
    try {
      called(await call({ sender: line, agent_id: agent, suffix, first_name: name.trim() }));
    } catch (e) {
      failed(e);
    } finally {
      setSending(false);
    }
  };
  return (
    <form onSubmit={(e) => void submit(e)} className="stack" style={{ gap: 12 }} noValidate>
      {lines.length > 1 && (
        <Select
          label={t.line}
          allowDeselect={false}
          data={lines.map((l) => ({ value: l.id, label: `${phone(l.number)} (${l.id})` }))}
          value={line}
          onChange={(v) => setLine(v ?? line)}
        />
      )}
      {agents.length > 1 && (
        <Select
          label={t.agent}
          allowDeselect={false}
          searchable
          data={agents.map((a) => ({ value: a.id, label: a.name }))}
          value={agent}
          onChange={(v) => setAgent(v ?? agent)}
        />
      )}
      <Select
        label={t.does}
        allowDeselect={false}
        maxDropdownHeight={320}
        data={[
          { value: "", label: doesOf(t, "") },
          ...behaviours.map((b) => ({ value: b.suffix, label: `${doesOf(t, b.suffix, b.effect)} (…${b.suffix})` })),
        ]}
        value={suffix}
        onChange={(v) => setSuffix(v ?? suffix)}
      />
      <TextInput
        label={t.name}
        description={t.nameHelp}
        maxLength={100}
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
      />
      <div>
        <Button type="submit" loading={sending} leftSection={<IconPhoneCall size={16} />}>
          {t.call}
        </Button>
      </div>
    </form>
  );
}
