import { Button, Select } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { numberIn } from "../../ui/number";
import { Written } from "../../ui/Written";
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
  const known = (id: string | undefined, options: { value: string; label: string }[]) =>
    id && !options.some((o) => o.value === id) ? [...options, { value: id, label: id }] : options;
  return (
    <div className="calls-filters" role="group" aria-label={t.filters}>
      <Select
        aria-label={t.state}
        placeholder={t.anyState}
        value={address.state ?? null}
        onChange={(v) => go({ state: (v ?? undefined) as StateFilter | undefined })}
        clearable
        checkIconPosition="right"
        maxDropdownHeight={420}
        data={[
          { group: t.groups, items: together.map((g) => ({ value: g, label: t[g] })) },
          { group: t.single, items: states.map((s) => ({ value: s, label: t[s] })) },
        ]}
      />
      <Select
        aria-label={t.agent}
        placeholder={t.anyAgent}
        value={address.agent ?? null}
        onChange={(v) => go({ agent: v ?? undefined })}
        clearable
        searchable={agents.length > 8}
        checkIconPosition="right"
        data={known(
          address.agent,
          agents.map((a) => ({ value: a.id!, label: a.name })),
        )}
      />
      <Select
        aria-label={t.line}
        placeholder={t.anyLine}
        value={address.line ?? null}
        onChange={(v) => go({ line: v ?? undefined })}
        clearable
        searchable={lines.length > 8}
        checkIconPosition="right"
        data={known(
          address.line,
          lines.map((l) => ({ value: l.id, label: l.id })),
        )}
      />
      <Written
        label={t.number}
        value={address.number ?? ""}
        type="tel"
        change={(v) => go({ number: v || undefined })}
        fits={(v) => v === "" || numberIn(v) !== ""}
      />
      {!incoming && (
        <Written
          label={t.campaign}
          value={address.campaign ?? ""}
          change={(v) => go({ campaign: v || undefined })}
          fits={() => true}
        />
      )}
      {narrowed(address) && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconX size={14} />}
          onClick={() =>
            go({ state: undefined, agent: undefined, line: undefined, number: undefined, campaign: undefined })
          }
        >
          {t.clear}
        </Button>
      )}
    </div>
  );
}
