import { Button, Select, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useTexts } from "../../i18n";
import { groups, narrowed, type Address, type Group, type StateFilter } from "./address";
import { useNames } from "./names";
import { texts } from "./texts";
import { callStates, incomingStates } from "./types";

/** Filters narrow the list; the address holds them. */
export function Filters({ address, go }: { address: Address; go: (to: Partial<Address>) => void }) {
  const t = useTexts(texts);
  const { agents, lines } = useNames();
  const incoming = address.direction === "incoming";
  const together: Group[] = incoming ? ["under_way"] : (Object.keys(groups) as Group[]);
  const states = incoming ? incomingStates : callStates;
  const known = (id: string | undefined, options: { value: string; label: string }[]) => (id && !options.some((o) => o.value === id) ? [...options, { value: id, label: id }] : options);
  return (
    <div className="calls-filters" role="group" aria-label={t.filters}>
      <Select aria-label={t.state} placeholder={t.anyState} value={address.state ?? null} onChange={(v) => go({ state: (v ?? undefined) as StateFilter | undefined })} clearable checkIconPosition="right" maxDropdownHeight={420}
        data={[{ group: t.groups, items: together.map((g) => ({ value: g, label: t[g] })) }, { group: t.single, items: states.map((s) => ({ value: s, label: t[s] })) }]} />
      <Select aria-label={t.agent} placeholder={t.anyAgent} value={address.agent ?? null} onChange={(v) => go({ agent: v ?? undefined })} clearable searchable={agents.length > 8} checkIconPosition="right"
        data={known(address.agent, agents.map((a) => ({ value: a.id!, label: a.name })))} />
      <Select aria-label={t.line} placeholder={t.anyLine} value={address.line ?? null} onChange={(v) => go({ line: v ?? undefined })} clearable searchable={lines.length > 8} checkIconPosition="right"
        data={known(address.line, lines.map((l) => ({ value: l.id, label: l.id })))} />
      <Written label={t.number} value={address.number ?? ""} type="tel" change={(v) => go({ number: v || undefined })} fits={(v) => v === "" || /^[+\d ()./-]+$/.test(v) && v.replace(/\D/g, "").length >= 7} />
      {!incoming && <Written label={t.campaign} value={address.campaign ?? ""} change={(v) => go({ campaign: v || undefined })} fits={() => true} />}
      {narrowed(address) && <Button variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={() => go({ state: undefined, agent: undefined, line: undefined, number: undefined, campaign: undefined })}>{t.clear}</Button>}
    </div>
  );
}

/** Written is a filter that is typed; the list follows when the typing pauses and the text can be looked for. */
function Written({ label, value, type, change, fits }: { label: string; value: string; type?: string; change: (to: string) => void; fits: (text: string) => boolean }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value || !fits(text.trim())) return;
    const timer = setTimeout(() => change(text.trim()), 350);
    return () => clearTimeout(timer);
  }, [text, value]);
  return <TextInput aria-label={label} placeholder={label} type={type ?? "text"} value={text} maxLength={255} onChange={(e) => setText(e.currentTarget.value)} />;
}
