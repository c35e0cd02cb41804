import { Button, Tabs } from "@mantine/core";
import { IconBook2, IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Page } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { TabList } from "../../ui/TabList";
import { AddBase } from "./AddBase";
import { addressOf } from "./address";
import { Answers } from "./Answers";
import { answerTexts, texts } from "./texts";
import { Questions } from "./Questions";
import { SearchTest } from "./SearchTest";
import type { Base } from "./types";

export function KnowledgePage() {
  return (
    <Needs permission="resources:read">
      <Knowledge />
    </Needs>
  );
}

function Knowledge() {
  const t = useTexts(texts);
  const a = useTexts(answerTexts);
  const can = useCan();
  const navigate = useNavigate();
  const { tab = "bases" } = useSearch({ from: "/shell/knowledge" });
  const [adding, setAdding] = useState(false);
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        can("resources:write") &&
        tab === "bases" && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
            {t.create}
          </Button>
        )
      }
    >
      <Tabs
        value={tab}
        onChange={(v) => void navigate({ to: "/knowledge", search: addressOf({ tab: v }) })}
        keepMounted={false}
      >
        <TabList mb={16}>
          <Tabs.Tab value="bases">{t.bases}</Tabs.Tab>
          <Tabs.Tab value="search">{t.tryTab}</Tabs.Tab>
          <Tabs.Tab value="questions">{t.questions}</Tabs.Tab>
          <Tabs.Tab value="answers">{a.tab}</Tabs.Tab>
        </TabList>
        <Tabs.Panel value="bases">
          <Bases add={() => setAdding(true)} />
        </Tabs.Panel>
        <Tabs.Panel value="search">
          <SearchTest />
        </Tabs.Panel>
        <Tabs.Panel value="questions">
          <Questions />
        </Tabs.Panel>
        <Tabs.Panel value="answers">
          <Answers />
        </Tabs.Panel>
      </Tabs>
      <AddBase
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/knowledge/$id", params: { id } })}
      />
    </Page>
  );
}

function Bases({ add }: { add: () => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan();
  const list = useList("knowledge");
  const agents = useList("agents");
  const usersOf = (b: Base) => (agents.data ?? []).filter((a) => a.knowledge.includes(b.id)).map((a) => a.name);
  const columns: Column<Base>[] = [
    { id: "name", label: t.name, fixed: true, by: (b) => b.id, cell: (b) => <span className="cut">{b.id}</span> },
    {
      id: "articles",
      label: t.articles,
      width: 150,
      by: (b) => b.articles.length,
      cell: (b) =>
        b.articles.length === 1 ? t.oneArticle : fill(t.articlesOf, { n: number(b.articles.length, language) }),
    },
    {
      id: "users",
      label: t.usedBy,
      width: "34%",
      from: "tablet",
      by: (b) => usersOf(b).join(", "),
      cell: (b) => {
        const names = usersOf(b).join(", ");
        return names ? <span title={names}>{names}</span> : <span className="muted">{t.nobody}</span>;
      },
    },
  ];
  return (
    <Listed
      label={t.bases}
      query={list}
      rows={list.data ?? []}
      columns={columns}
      id={(b) => b.id}
      name={(b) => b.id}
      under={(b) => usersOf(b).join(", ") || t.nobody}
      target={(b) => ({ to: "/knowledge/$id", params: { id: b.id } })}
      empty={
        <Empty icon={<IconBook2 size={22} />} title={t.empty} text={t.emptyText}>
          {can("resources:write") && (
            <Button leftSection={<IconPlus size={16} />} onClick={add}>
              {t.create}
            </Button>
          )}
        </Empty>
      }
    />
  );
}
