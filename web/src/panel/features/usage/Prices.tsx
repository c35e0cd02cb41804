import { ActionIcon, Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, put, type Schemas } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { texts } from "./texts";

type Price = Schemas["SendingPriceRow"];
type Given = Schemas["SendingPricesShown"];
const categories = [
  "marketing",
  "marketing_lite",
  "utility",
  "authentication",
  "authentication_international",
  "service",
] as const;

/** Prices is the dialog in which an administrator enters what WhatsApp charges. */
export function Prices({ close }: { close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const one = useQuery({
    queryKey: [company.id, "charge-prices"],
    queryFn: ({ signal }) => get("/charges/prices", {}, signal),
    gcTime: 0,
  });
  return (
    <Modal opened onClose={close} title={t.prices} closeButtonProps={{ "aria-label": s.close }} size="lg">
      {one.data && <Editor before={one.data} close={close} />}
    </Modal>
  );
}

function Editor({ before, close }: { before: Given; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const [currency, setCurrency] = useState(before.currency || "USD");
  const [rows, setRows] = useState<Price[]>(
    before.prices.length > 0 ? before.prices : [{ calling_code: "", category: "marketing", price: "" }],
  );
  const [busy, setBusy] = useState(false);
  const change = (i: number, to: Partial<Price>) => setRows(rows.map((r, at) => (at === i ? { ...r, ...to } : r)));
  const save = async () => {
    setBusy(true);
    try {
      await put("/charges/prices", { currency: currency.trim().toUpperCase(), prices: rows });
      await client.invalidateQueries({ queryKey: [company.id, "charges"] });
      succeeded(t.pricesSaved);
      close();
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack>
      <p className="muted small">{t.pricesAbout}</p>
      <TextInput
        label={t.currency}
        value={currency}
        maxLength={3}
        w={110}
        onChange={(e) => setCurrency(e.currentTarget.value)}
      />
      {rows.map((r, i) => (
        <Group key={i} align="end" wrap="nowrap">
          <TextInput
            label={t.callingCode}
            placeholder={t.allOthers}
            value={r.calling_code}
            maxLength={4}
            inputMode="tel"
            onChange={(e) => change(i, { calling_code: e.currentTarget.value.replace(/\D/g, "") })}
          />
          <Select
            label={t.category}
            value={r.category}
            allowDeselect={false}
            data={categories.map((c) => ({ value: c, label: t[`category_${c}`] }))}
            onChange={(v) => change(i, { category: v ?? r.category })}
          />
          <TextInput
            label={t.price}
            value={r.price}
            maxLength={13}
            inputMode="decimal"
            onChange={(e) => change(i, { price: e.currentTarget.value.replace(",", ".").trim() })}
          />
          <ActionIcon
            variant="subtle"
            size="lg"
            aria-label={t.removePrice}
            onClick={() => setRows(rows.filter((_, at) => at !== i))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group justify="space-between">
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          onClick={() => setRows([...rows, { calling_code: "", category: "utility", price: "" }])}
        >
          {t.addPrice}
        </Button>
        <Button loading={busy} onClick={() => void save()}>
          {s.save}
        </Button>
      </Group>
    </Stack>
  );
}
