import { Button, Tabs } from "@mantine/core";
import { IconBook2, IconPlus } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddBase } from "./AddBase";
import { Answers } from "./Answers";
import { answerTexts, texts } from "./texts";
import { Questions } from "./Questions";
import { SearchTest } from "./SearchTest";
import { addressOf } from "./address";

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
        <Tabs.List mb={16}>
          <Tabs.Tab value="bases">{t.bases}</Tabs.Tab>
          <Tabs.Tab value="search">{t.tryTab}</Tabs.Tab>
          <Tabs.Tab value="questions">{t.questions}</Tabs.Tab>
          <Tabs.Tab value="answers">{a.tab}</Tabs.Tab>
        </Tabs.List>
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
  if (list.isPending) return <Rows n={3} />;
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  if (list.data.length === 0) {
    return (
      <Card flush label={t.bases}>
        <Empty icon={<IconBook2 size={22} />} title={t.empty} text={t.emptyText}>
          {can("resources:write") && (
            <Button leftSection={<IconPlus size={16} />} onClick={add}>
              {t.create}
            </Button>
          )}
        </Empty>
      </Card>
    );
  }
  return (
    <Card flush label={t.bases}>
      <div className="table-wrap">
        <table className="table">
          <thead>
            <tr>
              <th>{t.name}</th>
              <th>{t.articles}</th>
              <th>{t.usedBy}</th>
            </tr>
          </thead>
          <tbody>
            {list.data.map((b) => {
              const users = (agents.data ?? []).filter((a) => a.knowledge.includes(b.id));
              return (
                <tr key={b.id}>
                  <td>
                    <Link className="row-title" to="/knowledge/$id" params={{ id: b.id }}>
                      {b.id}
                    </Link>
                  </td>
                  <td>
                    {b.articles.length === 1
                      ? t.oneArticle
                      : fill(t.articlesOf, { n: number(b.articles.length, language) })}
                  </td>
                  <td>
                    {users.length ? (
                      <div className="tags" style={{ justifyContent: "flex-end" }}>
                        {users.map((a) => (
                          <Tag key={a.id}>{a.name}</Tag>
                        ))}
                      </div>
                    ) : (
                      <span className="muted">{t.nobody}</span>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
