import { IconTrash } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { SaveBar, useDraft } from "../../ui/draft";
import { More } from "../../ui/More";
import { Failed, Page, Rows } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { useChanges, useOne } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { HTTPForm } from "./HTTPForm";
import { MCPForm } from "./MCPForm";
import { texts } from "./texts";
import { Trial } from "./Trial";
import type { Tool } from "./types";

export function ToolPage() {
  const { id } = useParams({ from: "/shell/tools/$id" });
  return (
    <Needs permission="resources:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useOne("tools", id);
  if (one.data) return <Editor stored={one.data} />;
  return (
    <Page title={t.title} back={{ to: "/tools", text: t.title }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Editor changes a tool, which can be tried at its side. */
function Editor({ stored }: { stored: Tool }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const can = useCan()("resources:write");
  const navigate = useNavigate();
  const { replace, remove } = useChanges("tools");
  const draft = useDraft(stored, replace);
  const drop = async () => {
    await remove(stored.id!);
    succeeded(t.removed);
    void navigate({ to: "/tools", ignoreBlocker: true });
  };
  return (
    <Page
      title={stored.name}
      back={{ to: "/tools", text: t.title }}
      actions={
        <More
          acts={[
            can && {
              label: t.remove,
              icon: <IconTrash size={16} />,
              danger: true,
              ask: { title: fill(t.removeTitle, { name: stored.name }), text: t.removeText, action: s.remove },
              run: drop,
            },
          ]}
        />
      }
    >
      <div className="side-by-side">
        <div>
          <fieldset disabled={!can} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
            {draft.value.mcp ? <MCPForm draft={draft} stored={stored} can={can} /> : <HTTPForm draft={draft} />}
          </fieldset>
          <SaveBar draft={draft} />
        </div>
        {can && <Trial tool={stored} changed={draft.dirty} />}
      </div>
    </Page>
  );
}
