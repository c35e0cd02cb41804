import { Button } from "@mantine/core";
import { IconMessageCircle, IconPlus } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { languageName } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddWidget } from "./AddWidget";
import { texts } from "./texts";

export function WidgetsPage() {
  return (
    <Needs permission="resources:read">
      <Widgets />
    </Needs>
  );
}

function Widgets() {
  const t = useTexts(texts);
  const language = useLanguage();
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useList("widgets");
  const agents = useList("agents");
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
            <Empty icon={<IconMessageCircle size={22} />} title={t.empty} text={t.emptyText}>
              {create}
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.name}</th>
                    <th>{t.kind}</th>
                    <th className="wide-only">{t.agent}</th>
                    <th className="wide-only">{t.language}</th>
                    <th className="wide-only">{t.sites}</th>
                  </tr>
                </thead>
                <tbody>
                  {list.data.map((w) => (
                    <tr key={w.id}>
                      <td>
                        <div style={{ display: "flex", alignItems: "center", gap: 12 }}>
                          <span
                            className="swatch"
                            style={{ background: w.appearance.primary_color || "var(--accent)" }}
                            aria-hidden="true"
                          />
                          <Link className="row-title" to="/widgets/$id" params={{ id: w.id }}>
                            {w.name}
                          </Link>
                        </div>
                      </td>
                      <td>
                        <Tag>{t[w.kind]}</Tag>
                      </td>
                      <td className="wide-only">
                        {agents.data?.find((a) => a.id === w.agent)?.name ?? <span className="muted">–</span>}
                      </td>
                      <td className="wide-only">
                        {languageName(w.language, language)}
                        {Object.keys(w.translations).length > 0 && (
                          <span className="muted"> +{Object.keys(w.translations).length}</span>
                        )}
                      </td>
                      <td className="wide-only">
                        {w.allowed_origins.length ? (
                          w.allowed_origins.length
                        ) : (
                          <span className="muted">{t.anySite}</span>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
      <AddWidget
        opened={adding}
        close={() => setAdding(false)}
        agents={agents.data ?? []}
        made={(id) => void navigate({ to: "/widgets/$id", params: { id } })}
      />
    </Page>
  );
}
