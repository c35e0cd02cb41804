import { Button } from "@mantine/core";
import { IconKey, IconTrash } from "@tabler/icons-react";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { SaveBar, useDraft } from "../../ui/draft";
import { More } from "../../ui/More";
import { Card, Failed, Note, Page, Rows } from "../../ui/parts";
import { Told } from "../../ui/Told";
import { Deliveries } from "./Deliveries";
import { FilterFields, HeaderFields, tidied, TypesField, UrlField } from "./Fields";
import { pageTexts, texts } from "./texts";
import { RemoveDialog } from "./RemoveDialog";
import { ReplayDialog } from "./ReplayDialog";
import { RotateDialog } from "./RotateDialog";
import { StateCard } from "./State";
import { TestDialog } from "./TestDialog";
import { addressOf, hostOf, type Address, type Webhook } from "./types";
import { useChanges, useWebhook } from "./useWebhooks";

export function WebhookPage() {
  const { id } = useParams({ from: "/shell/webhooks/$id" });
  return (
    <Needs permission="webhooks:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useWebhook(id);
  if (one.data) return <Whole stored={one.data} />;
  return (
    <Page title={t.title} back={{ to: "/webhooks", text: t.title }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Whole is an endpoint: how it stands and what was sent, and its settings at the side. */
function Whole({ stored }: { stored: Webhook }) {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const can = useCan()("webhooks:write");
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/webhooks/$id" });
  const go = useCallback(
    (to: Partial<Address>) =>
      void navigate({ to: ".", replace: true, resetScroll: false, search: (now) => addressOf({ ...now, ...to }) }),
    [navigate],
  );
  const [open, setOpen] = useState<"" | "test" | "rotate" | "replay" | "remove">("");
  const close = () => setOpen("");
  const actions = can && (
    <>
      <Button variant="default" onClick={() => setOpen("replay")}>
        {p.replay}
      </Button>
      <Button onClick={() => setOpen("test")}>{p.test}</Button>
      <More
        acts={[
          { label: p.rotate, icon: <IconKey size={16} />, run: () => setOpen("rotate") },
          { label: p.remove, icon: <IconTrash size={16} />, danger: true, run: () => setOpen("remove") },
        ]}
      />
    </>
  );
  return (
    <Page
      title={hostOf(stored.url)}
      about={<span className="hook-said">{stored.url}</span>}
      back={{ to: "/webhooks", text: t.title }}
      actions={actions}
    >
      <div className="side-by-side">
        <div className="stack">
          {stored.warning && (
            <Note tone="warn">
              <p>
                <Told text={stored.warning} />.
              </p>
            </Note>
          )}
          <StateCard webhook={stored} />
          <Deliveries webhook={stored} address={address} go={go} />
        </div>
        <Settings stored={stored} can={can} />
      </div>
      <TestDialog webhook={stored} opened={open === "test"} close={close} />
      <RotateDialog id={stored.id!} opened={open === "rotate"} close={close} />
      <ReplayDialog webhook={stored} opened={open === "replay"} close={close} />
      <RemoveDialog
        webhook={stored}
        opened={open === "remove"}
        close={close}
        removed={() => void navigate({ to: "/webhooks", ignoreBlocker: true })}
      />
    </Page>
  );
}

/** Settings changes an endpoint. */
function Settings({ stored, can }: { stored: Webhook; can: boolean }) {
  const p = useTexts(pageTexts);
  const { replace } = useChanges();
  const send = useCallback(
    (w: Webhook) =>
      replace(tidied({ ...w, paused: stored.paused, previous_secret_until: stored.previous_secret_until })),
    [replace, stored],
  );
  const draft = useDraft(stored, send);
  return (
    <div>
      <Card title={p.settings}>
        <fieldset disabled={!can} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
          <div className="form">
            <UrlField {...draft} />
            <TypesField {...draft} />
            <FilterFields {...draft} />
            <HeaderFields {...draft} before={stored.url} stored={stored.headers} />
          </div>
        </fieldset>
      </Card>
      <SaveBar draft={draft} />
    </div>
  );
}
