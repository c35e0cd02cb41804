import { Button, Group, Modal, Progress, Stack } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { get, Problem, send, type Page } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Note } from "../../ui/parts";
import { problemText } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { id } from "../../ui/id";
import { texts } from "./texts";
import { groups, type Campaign, type Reached } from "./types";

interface Done {
  messages: number; // whose recipients were looked at
  resent: number;
  left: number;
}

/** ResendFailed sends a campaign's messages again to those whom they did not reach and may reach now. */
export function ResendFailed({ campaign: c }: { campaign: Campaign }) {
  const t = useTexts(texts);
  const can = useCan();
  const [asked, ask] = useState(false);
  if (!can("notifications:send") || !c.messages?.failed) return null;
  return (
    <>
      <Button mt={12} size="xs" variant="default" leftSection={<IconRefresh size={14} />} onClick={() => ask(true)}>
        {t.resend}
      </Button>
      {asked && <Asked campaign={c} close={() => ask(false)} />}
    </>
  );
}

function Asked({ campaign: c, close }: { campaign: Campaign; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const company = useCompany();
  const client = useQueryClient();
  const [done, setDone] = useState<Done>();
  const [over, setOver] = useState(false);
  const [fault, setFault] = useState<ReactNode>("");
  const stop = useRef(new AbortController());
  const keys = useRef(new Map<string, string>()); // the same again is the same request
  useEffect(() => () => stop.current.abort(), []);
  const n = (x: number) => number(x, language);

  /** one sends one notification to those of its failed recipients who may get it now. */
  const one = async (of: string, seen: Done) => {
    const { data } = await get(`/notifications/${of}/resend`, {}, stop.current.signal);
    const may = data.filter((r) => !r.not && !r.caution).map((r) => r.n);
    seen.messages++;
    seen.left += data.length - may.length;
    if (may.length > 0) {
      if (!keys.current.has(of)) keys.current.set(of, id());
      await send("post", `/notifications/${of}/resend`, {
        body: { recipients: may, reached: false },
        headers: { "Idempotency-Key": keys.current.get(of)! },
        signal: stop.current.signal,
      });
      seen.resent += may.length;
    }
    setDone({ ...seen });
  };
  const go = async () => {
    const seen: Done = { messages: 0, resent: 0, left: 0 };
    const looked = new Set<string>();
    setDone({ ...seen });
    setFault("");
    try {
      for (let cursor: string | undefined = ""; cursor !== undefined;) {
        const page: Page<Reached> = await get(
          "/campaigns/recipients",
          { name: c.name, state: groups.failed.join(","), limit: 100, cursor },
          stop.current.signal,
        );
        for (const r of page.data)
          if (r.channel === "messaging" && !looked.has(r.notification_id)) {
            looked.add(r.notification_id);
            try {
              await one(r.notification_id, seen);
            } catch (e) {
              if (!(e instanceof Problem && (e.status === 404 || e.status === 409))) throw e; // its request is no longer kept
              setDone({ ...seen });
            }
          }
        cursor = page.next_cursor ?? undefined;
      }
    } catch (e) {
      if (!stop.current.signal.aborted) setFault(problemText(e));
    }
    setOver(true);
    void client.invalidateQueries({ queryKey: [company.id, "campaigns"] });
  };
  return (
    <Modal opened onClose={close} title={t.resend} closeButtonProps={{ "aria-label": s.close }}>
      <Stack>
        {!done ? (
          <>
            <p className="campaigns-flat">{fill(t.resendAbout, { n: n(c.messages!.failed) })}</p>
            <p className="campaigns-flat small muted">{t.again}</p>
          </>
        ) : (
          <div role="status">
            {!over && <Progress value={100} animated aria-label={t.resending} />}
            <p className="campaigns-flat">
              {fill(over ? t.resendDone : t.resending, { n: n(done.resent), left: n(done.left) })}
            </p>
          </div>
        )}
        {fault && (
          <Note tone="danger">
            <p>{fault}</p>
          </Note>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {over ? s.close : s.cancel}
          </Button>
          {!done && (
            <Button leftSection={<IconRefresh size={16} />} onClick={() => void go()}>
              {t.resendDo}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
