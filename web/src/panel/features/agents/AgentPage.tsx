import { Button, Loader, Tabs } from "@mantine/core";
import { IconAlertCircle, IconChartLine, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect } from "react";
import { fill, useTexts, withTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Agent } from "./types";
import { SaveBar, useDraft } from "../../ui/draft";
import { More } from "../../ui/More";
import { Failed, Note, Page, Rows } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { Told } from "../../ui/Told";
import { useChanges, useOne } from "../../ui/resources";
import { TabList } from "../../ui/TabList";
import { shared } from "../../ui/texts";
import { answerTexts } from "../knowledge/texts";
import { AgentForm } from "./AgentForm";
import { Playground } from "./Playground";
import { sectionOf, sectionsOf, tabOf, type Tab } from "./sections";
import { testBefore } from "./tests/gate";
import { texts as testTexts } from "./tests/texts";
import { texts } from "./texts";

const TestsTab = lazy(withTexts(() => import("./tests/TestsTab").then((m) => ({ default: m.TestsTab }))));

export function AgentPage() {
  const { id } = useParams({ from: "/shell/agents/$id" });
  return (
    <Needs permission="resources:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useOne("agents", id);
  if (one.data) return <Editor stored={one.data} />;
  return (
    <Page title={t.title} back={{ to: "/agents", text: t.title }}>
      {one.isError ? <Failed error={one.error} retry={() => void one.refetch()} /> : <Rows />}
    </Page>
  );
}

/** Editor changes an agent, which can be tried at its side and tested. */
function Editor({ stored }: { stored: Agent }) {
  const t = useTexts(texts);
  const a = useTexts(answerTexts);
  const s = useTexts(shared);
  const tt = useTexts(testTexts);
  const { tab: asked = "settings" } = useSearch({ from: "/shell/agents/$id" });
  const can = useCan()("resources:write");
  const navigate = useNavigate();
  const { replace, remove } = useChanges("agents");
  const publish = useCallback(
    async (a: Agent) => {
      const { warning: _, ...change } = a;
      await testBefore([a], { agent: change });
      return replace(a);
    },
    [replace],
  );
  const draft = useDraft(stored, publish);
  const shown = sectionsOf(draft.value);
  const tab: Tab = asked === "tests" || shown.includes(asked) ? asked : "settings";
  const go = (to: Tab) =>
    void navigate({ to: "/agents/$id", params: { id: stored.id }, search: tabOf({ tab: to }), resetScroll: false });
  const faulty = draft.faulty && sectionOf(draft.faulty);
  useEffect(() => {
    if (faulty) go(faulty); // to the field with the error
  }, [faulty]);
  const drop = async () => {
    await remove(stored.id!);
    succeeded(t.removed);
    void navigate({ to: "/agents", ignoreBlocker: true });
  };
  return (
    <Page
      title={stored.name}
      back={{ to: "/agents", text: t.title }}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconChartLine size={16} />}
            renderRoot={(props) => <Link to="/knowledge" search={{ tab: "answers", agent: stored.id }} {...props} />}
          >
            {a.tab}
          </Button>
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
        </>
      }
    >
      {stored.warning && (
        <div style={{ marginBottom: 16 }}>
          <Note tone="warn">
            <Told text={stored.warning} />
          </Note>
        </div>
      )}
      <Tabs value={tab} onChange={(v) => go(v as Tab)}>
        <TabList mb={16}>
          {shown.map((x) => (
            <Tabs.Tab key={x} value={x} rightSection={faulty === x && <IconAlertCircle size={15} aria-hidden="true" />}>
              {t[`tab_${x}`]}
            </Tabs.Tab>
          ))}
          <Tabs.Tab value="tests">{tt.tests}</Tabs.Tab>
        </TabList>
        <div className="side-by-side" style={tab === "tests" ? { display: "none" } : undefined}>
          <div>
            <fieldset disabled={!can} style={{ border: 0, margin: 0, padding: 0, minWidth: 0 }}>
              {shown.map((x) => (
                <Tabs.Panel key={x} value={x}>
                  <AgentForm draft={draft} section={x} />
                </Tabs.Panel>
              ))}
            </fieldset>
            <SaveBar draft={draft} />
          </div>
          {can && <Playground agent={draft.value} stored={stored} changed={draft.dirty} />}
        </div>
        <Tabs.Panel value="tests">
          {tab === "tests" && (
            <Suspense fallback={<Loader size="sm" m="auto" />}>
              <TestsTab agent={stored} />
            </Suspense>
          )}
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
