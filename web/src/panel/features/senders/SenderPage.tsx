import "./senders.css";
import { IconTrash } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { SaveBar } from "../../ui/draft";
import { More } from "../../ui/More";
import { phone } from "../../ui/number";
import { Failed, Page, Rows } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { CallbackCard } from "./CallbackCard";
import { CallsCard } from "./CallsCard";
import { CheckCard } from "./CheckCard";
import { HistoryCard } from "./HistoryCard";
import { RegisterCard } from "./RegisterCard";
import { SenderForm } from "./SenderForm";
import { StateCard } from "./StateCard";
import { texts } from "./texts";
import type { MessagingSender } from "./types";
import { useSender, useSenderChanges, useSenderState } from "./useSenders";
import { useSenderDraft } from "./useSenderDraft";

export function SenderPage() {
  const { id } = useParams({ from: "/shell/senders/$id" });
  return (
    <Needs permission="senders:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useSender(id);
  if (one.data?.channel === "messaging") return <Editor stored={one.data} />;
  return (
    <Page title={t.title} back={{ to: "/senders", text: t.back }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Editor changes a sender, with its state and the check at its side, or before it where there is no room. */
function Editor({ stored }: { stored: MessagingSender }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const can = useCan()("senders:write");
  const navigate = useNavigate();
  const { remove } = useSenderChanges();
  const draft = useSenderDraft(stored);
  const state = useSenderState(stored.id);
  const cloud = stored.provider === "whatsapp";
  const drop = async () => {
    await remove(stored.id);
    succeeded(t.removed);
    void navigate({ to: "/senders", ignoreBlocker: true });
  };
  return (
    <Page
      title={phone(stored.number)}
      about={stored.id === stored.number ? undefined : stored.id}
      back={{ to: "/senders", text: t.back }}
      actions={
        <More
          acts={[
            can && {
              label: t.remove,
              icon: <IconTrash size={16} />,
              danger: true,
              ask: { title: fill(t.removeTitle, { name: phone(stored.number) }), text: t.removeText, action: s.remove },
              run: drop,
            },
          ]}
        />
      }
    >
      <div className="side-by-side">
        <div className="stack sender-side">
          <StateCard sender={stored} state={state.data} error={state.error} retry={() => void state.refetch()} />
          {cloud && <CheckCard id={stored.id} waba={stored.settings.waba_id} report={state.data?.report} />}
          {cloud && can && <RegisterCard id={stored.id} report={state.data?.report} />}
          {cloud && <CallsCard id={stored.id} />}
          {cloud && <HistoryCard id={stored.id} state={state.data} />}
          {cloud && (
            <CallbackCard sender={stored} report={state.data?.report} typed={draft.value.settings.verify_token} />
          )}
        </div>
        <div className="sender-form">
          <fieldset disabled={!can} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
            <SenderForm draft={draft} can={can} />
          </fieldset>
          <p className="small muted">{t.setupNote}</p>
          <SaveBar draft={draft} />
        </div>
      </div>
    </Page>
  );
}
