import { Tabs } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Widget } from "./types";
import { SaveBar, useDraft } from "../../ui/draft";
import { More } from "../../ui/More";
import { Failed, Note, Page, Rows } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { useChanges, useOne } from "../../ui/resources";
import { TabList } from "../../ui/TabList";
import { shared } from "../../ui/texts";
import { Behaviour } from "./Behaviour";
import { Install } from "./Install";
import { Look } from "./Look";
import { Preview } from "./Preview";
import { Installed } from "./Seen";
import { texts } from "./texts";
import { Words } from "./Words";

export function WidgetPage() {
  const { id } = useParams({ from: "/shell/widgets/$id" });
  return (
    <Needs permission="resources:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useOne("widgets", id);
  if (one.data) return <Designer stored={one.data} />;
  return (
    <Page title={t.title} back={{ to: "/widgets", text: t.title }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Designer changes a widget, with how it looks at its side. */
function Designer({ stored }: { stored: Widget }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const can = useCan()("resources:write");
  const navigate = useNavigate();
  const { replace, remove } = useChanges("widgets");
  const draft = useDraft(stored, replace);
  const [shown, show] = useState(stored.language);
  const [tab, setTab] = useState<string | null>("look");
  const w = draft.value;
  const drop = async () => {
    draft.discard();
    await remove(stored.id);
    succeeded(t.removed);
    void navigate({ to: "/widgets", ignoreBlocker: true });
  };
  return (
    <Page
      title={stored.name}
      back={{ to: "/widgets", text: t.title }}
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
      {w.warning && (
        <div style={{ marginBottom: 16 }}>
          <Note tone="warn">{w.warning}</Note>
        </div>
      )}
      <Installed id={stored.id!} />
      <div className="side-by-side">
        <div>
          <div className="card">
            <Tabs value={tab} onChange={setTab} keepMounted={false}>
              <TabList px={16}>
                <Tabs.Tab value="look">{t.look}</Tabs.Tab>
                <Tabs.Tab value="words">{t.words}</Tabs.Tab>
                <Tabs.Tab value="behaviour">{t.behaviour}</Tabs.Tab>
                <Tabs.Tab value="install">{t.install}</Tabs.Tab>
              </TabList>
              <fieldset disabled={!can && tab !== "install"} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
                <Tabs.Panel value="look" p={24}>
                  <Look draft={draft} />
                </Tabs.Panel>
                <Tabs.Panel value="words" p={24}>
                  <Words draft={draft} shown={shown} show={show} />
                </Tabs.Panel>
                <Tabs.Panel value="behaviour" p={24}>
                  <Behaviour draft={draft} />
                </Tabs.Panel>
                <Tabs.Panel value="install" p={24}>
                  <Install widget={stored} />
                </Tabs.Panel>
              </fieldset>
            </Tabs>
          </div>
          <SaveBar draft={draft} />
        </div>
        <Preview widget={w} language={shown} />
      </div>
    </Page>
  );
}
