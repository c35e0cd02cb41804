import { Button, Select } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api";
import { useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Day } from "../../ui/Day";
import { numberIn } from "../../ui/number";
import { Written } from "../../ui/Written";
import { narrowed, nothing, type Address } from "./address";
import { texts } from "./texts";
import { kinds, notificationStates } from "./types";

/** Filters narrow the list; the address holds them. */
export function Filters({ address: a, go }: { address: Address; go: (to: Partial<Address>) => void }) {
  const t = useTexts(texts);
  const can = useCan();
  const company = useCompany();
  const senders =
    useQuery({
      queryKey: [company.id, "senders"],
      queryFn: ({ signal }) => get("/senders", {}, signal),
      enabled: can("senders:read"),
    }).data?.data ?? [];
  const named = senders.map((s) => ({ value: s.id, label: s.id }));
  if (a.sender && !named.some((s) => s.value === a.sender)) named.push({ value: a.sender, label: a.sender });
  const choose = <K extends "state" | "channel" | "type" | "sender">(
    key: K,
    label: string,
    any: string,
    data: { value: string; label: string }[],
  ) => (
    <Select
      aria-label={label}
      placeholder={any}
      value={a[key] ?? null}
      onChange={(v) => go({ [key]: v ?? undefined })}
      clearable
      checkIconPosition="right"
      data={data}
      searchable={data.length > 8}
    />
  );
  return (
    <div className="sent-filters" role="group" aria-label={t.filters}>
      {choose(
        "state",
        t.state,
        t.anyState,
        notificationStates.map((s) => ({ value: s, label: t[`is_${s}`] })),
      )}
      {choose(
        "channel",
        t.channel,
        t.anyChannel,
        (["messaging", "voice"] as const).map((s) => ({ value: s, label: t[s] })),
      )}
      {choose(
        "type",
        t.type,
        t.anyType,
        kinds.map((s) => ({ value: s, label: t[s] })),
      )}
      {choose("sender", t.sender, t.anySender, named)}
      <Written
        label={t.campaign}
        value={a.campaign ?? ""}
        change={(v) => go({ campaign: v || undefined })}
        fits={() => true}
      />
      <Written
        label={t.number}
        value={a.number ?? ""}
        type="tel"
        change={(v) => go({ number: v || undefined })}
        fits={(v) => v === "" || numberIn(v) !== ""}
      />
      <Day label={t.from} before value={a.from} most={a.to} change={(from) => go({ from })} />
      <Day label={t.to} before value={a.to} least={a.from} change={(to) => go({ to })} />
      {narrowed(a) && (
        <Button variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={() => go(nothing)}>
          {t.clear}
        </Button>
      )}
    </div>
  );
}
