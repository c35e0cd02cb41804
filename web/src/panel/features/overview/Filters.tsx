import { Button, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { everything, get } from "../../api";
import { useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Day } from "../../ui/Day";
import { useTyped } from "../../ui/typed";
import { dateOf, narrowed, ranges, type Address } from "./address";
import type { Go } from "./OverviewPage";
import { texts } from "./texts";
import { channels, kinds, type Overview } from "./types";

/** Filters are the range and what narrows the figures; the address holds them. */
export function Filters({
  address,
  go,
  clear,
  names,
}: {
  address: Address;
  go: Go;
  clear: () => void;
  names: Overview | undefined;
}) {
  const t = useTexts(texts);
  const company = useCompany();
  const can = useCan();
  const senders = useQuery({
    queryKey: [company.id, "senders", "all"],
    enabled: can("senders:read"),
    queryFn: ({ signal }) => get("/senders", {}, signal),
  });
  const templates = useQuery({
    queryKey: [company.id, "templates", "names"],
    enabled: can("templates:read"),
    queryFn: ({ signal }) => everything("/templates", {}, signal),
  });
  const known = (value: string | undefined, all: string[]) => [...new Set([...(value ? [value] : []), ...all])];
  const today = dateOf(new Date());
  const campaigns = known(address.campaign, (names?.campaigns ?? []).map((c) => c.campaign ?? "").filter(Boolean));
  return (
    <div className="overview-filters" role="group" aria-label={t.filters}>
      <SegmentedControl
        aria-label={t.range}
        value={address.range ?? "24h"}
        onChange={(v) =>
          go({
            range: v === "24h" ? undefined : v,
            from: v === "own" ? dateOf(new Date(Date.now() - 6 * 86_400_000)) : undefined,
            to: v === "own" ? today : undefined,
          })
        }
        data={ranges.map((r) => ({ value: r, label: t[r] }))}
      />
      {address.range === "own" && (
        <>
          <Day label={t.from} value={address.from} most={address.to ?? today} change={(from) => go({ from })} />
          <Day label={t.to} value={address.to} least={address.from} most={today} change={(to) => go({ to })} />
        </>
      )}
      <Campaign value={address.campaign ?? ""} known={campaigns} change={(v) => go({ campaign: v || undefined })} />
      <Select
        aria-label={t.type}
        placeholder={t.type}
        clearable
        checkIconPosition="right"
        value={address.type ?? null}
        onChange={(v) => go({ type: v ?? undefined })}
        data={kinds.map((k) => ({ value: k, label: t[k] }))}
      />
      <Select
        aria-label={t.template}
        placeholder={t.template}
        clearable
        searchable
        checkIconPosition="right"
        value={address.template ?? null}
        onChange={(v) => go({ template: v ?? undefined, language: undefined })}
        data={known(
          address.template,
          (templates.data ?? []).map((x) => x.name),
        ).sort()}
      />
      <Select
        aria-label={t.sender}
        placeholder={t.sender}
        clearable
        checkIconPosition="right"
        value={address.sender ?? null}
        onChange={(v) => go({ sender: v ?? undefined })}
        data={known(
          address.sender,
          (senders.data?.data ?? []).map((x) => x.id),
        )}
      />
      <Select
        aria-label={t.channel}
        placeholder={t.channel}
        clearable
        checkIconPosition="right"
        value={address.channel ?? null}
        onChange={(v) => go({ channel: v ?? undefined })}
        data={channels.map((c) => ({ value: c, label: t[c] }))}
      />
      {narrowed(address) && (
        <Button variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={clear}>
          {t.clear}
        </Button>
      )}
    </div>
  );
}

/** Campaign is typed, with the last ones at hand; the figures follow when the typing pauses. */
function Campaign({ value, known, change }: { value: string; known: string[]; change: (to: string) => void }) {
  const t = useTexts(texts);
  const [text, setText] = useTyped(value, change, 350);
  return (
    <>
      <TextInput
        aria-label={t.campaign}
        placeholder={t.campaign}
        value={text}
        maxLength={255}
        list="overview-campaigns"
        onChange={(e) => setText(e.currentTarget.value)}
      />
      <datalist id="overview-campaigns">
        {known.map((c) => (
          <option key={c} value={c} />
        ))}
      </datalist>
    </>
  );
}
