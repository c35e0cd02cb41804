import { IconTrash } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Sender } from "./types";
import { SaveBar, useDraft } from "../../ui/draft";
import { More } from "../../ui/More";
import { numberIn, phone } from "../../ui/number";
import { Failed, Note, Page, Rows } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { LineForm } from "./LineForm";
import { StateCard } from "./State";
import { TestCall } from "./TestCall";
import { texts } from "./texts";
import { useLine, useLineChanges, useLines } from "./useLines";
import "./lines.css";

export function LinePage() {
  const { id } = useParams({ from: "/shell/lines/$id" });
  return (
    <Needs permission="senders:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useLine(id);
  if (one.data?.channel === "voice") return <Editor stored={one.data} />;
  return (
    <Page title={t.title} back={{ to: "/lines", text: t.title }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Editor changes a line, which can be tried at its side. */
function Editor({ stored }: { stored: Sender }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const can = useCan()("senders:write");
  const navigate = useNavigate();
  const { replace, remove } = useLineChanges();
  const draft = useDraft(stored, (x) => replace({ ...x, number: numberIn(x.number) || x.number.trim() }));
  const row = useLines().data?.find((l) => l.id === stored.id);
  const built = stored.provider === "sip" || stored.provider === "sandbox";
  const drop = async () => {
    await remove(stored.id!);
    succeeded(t.removed);
    void navigate({ to: "/lines", ignoreBlocker: true });
  };
  return (
    <Page
      title={phone(stored.number)}
      about={stored.id}
      back={{ to: "/lines", text: t.title }}
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
      {!built && (
        <div style={{ marginBottom: 16 }}>
          <Note tone="warn">{t.elsewhere}</Note>
        </div>
      )}
      <div className="side-by-side">
        <div>
          <fieldset disabled={!can || !built} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
            <LineForm draft={draft} stored={stored} can={can && built} />
          </fieldset>
          <SaveBar draft={draft} />
        </div>
        <div className="stack line-side">
          {row && <StateCard line={row} />}
          {can && built && <TestCall line={stored} changed={draft.dirty} />}
        </div>
      </div>
    </Page>
  );
}
