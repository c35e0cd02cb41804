import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { post, Problem } from "../../api";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { failed, problemText, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { time } from "../calls/format";
import { pageTexts } from "./texts";
import type { SentPage } from "./types";
import { instantIn, localIn, zones } from "./zones";

/** Move gives a notification that has not begun another time, in a zone. */
export function Move({ page: n, close }: { page: SentPage; close: () => void }) {
  const p = useTexts(pageTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const company = useCompany();
  const client = useQueryClient();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [zone, setZone] = useState(own);
  const [at, setAt] = useState(() => localIn(Date.parse(n.scheduled_time ?? n.due_at), own));
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<ReactNode>("");
  const instant = instantIn(at, zone);
  const past = instant !== undefined && instant <= Date.now();
  const move = async () => {
    setBusy(true);
    setFault("");
    try {
      const r = await post(`/notifications/${n.notification_id}/move`, {
        datetime_sending: at.length === 16 ? at + ":00" : at,
        timezone: zone,
      });
      succeeded(fill(p.moved, { time: time(r.scheduled_time, language) }));
      void client.invalidateQueries({ queryKey: [company.id, "notifications", n.notification_id], exact: true });
      close();
    } catch (e) {
      if (e instanceof Problem && e.status === 400) setFault(problemText(e));
      else failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={p.moveTitle} closeButtonProps={{ "aria-label": s.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void move();
        }}
      >
        <Stack>
          <TextInput
            type="datetime-local"
            label={p.date}
            value={at}
            required
            data-autofocus
            onChange={(e) => setAt(e.currentTarget.value)}
            error={fault || (past ? p.inPast : undefined)}
            description={p.moveNow}
          />
          <Select
            label={p.zone}
            value={zone}
            data={zones(own)}
            searchable
            allowDeselect={false}
            onChange={(v) => setZone(v ?? own)}
            limit={60}
          />
          {instant !== undefined && zone !== own && (
            <p className="muted small sent-note">
              {fill(p.forYou, { time: absolute(new Date(instant).toISOString(), language) })}
            </p>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={instant === undefined || past}>
              {p.moveDo}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
