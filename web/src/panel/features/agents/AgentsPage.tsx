import { Button } from "@mantine/core";
import { IconPlus, IconRobot } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { languageName } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddAgent } from "./AddAgent";
import { texts } from "./texts";

export function AgentsPage() {
  return (
    <Needs permission="resources:read">
      <Agents />
    </Needs>
  );
}

function Agents() {
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useList("agents");
  const create = can("resources:write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.create}
    </Button>
  );
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      {list.isPending ? (
        <Rows n={3} />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Card flush label={t.title}>
          {list.data.length === 0 ? (
            <Empty icon={<IconRobot size={22} />} title={t.empty} text={t.emptyText}>
              {create}
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.name}</th>
                    <th>{t.engine}</th>
                    <th className="wide-only">{t.knowledge}</th>
                    <th>{t.language}</th>
                  </tr>
                </thead>
                <tbody>
                  {list.data.map((a) => (
                    <tr key={a.id}>
                      <td>
                        <Link className="row-title" to="/agents/$id" params={{ id: a.id! }}>
                          {a.name}
                        </Link>
                      </td>
                      <td>
                        <Tag tone={a.warning ? "warn" : undefined}>{t[a.engine]}</Tag>
                      </td>
                      <td className="wide-only">
                        <div className="tags">
                          {a.knowledge.length ? (
                            a.knowledge.map((k) => <Tag key={k}>{k}</Tag>)
                          ) : (
                            <span className="muted">–</span>
                          )}
                        </div>
                      </td>
                      <td>{languageName(a.language, language)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
      <AddAgent
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/agents/$id", params: { id } })}
      />
    </Page>
  );
}
