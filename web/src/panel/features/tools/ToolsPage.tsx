import { Button } from "@mantine/core";
import { IconPlus, IconTool } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddTool } from "./AddTool";
import { texts } from "./texts";
import type { Tool } from "./types";

export function ToolsPage() {
  return (
    <Needs permission="resources:read">
      <Tools />
    </Needs>
  );
}

/** changes reports whether people confirm the calls of a tool. */
export function changes(tool: Tool): boolean {
  if (tool.mcp) return tool.mcp.tools.some((x) => x.changes !== false);
  return tool.changes ?? tool.http?.method !== "GET";
}

function Tools() {
  const t = useTexts(texts);
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useList("tools");
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
            <Empty icon={<IconTool size={22} />} title={t.empty} text={t.emptyText}>
              {create}
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.name}</th>
                    <th>{t.kind}</th>
                    <th className="wide-only">{t.address}</th>
                    <th>{t.use}</th>
                  </tr>
                </thead>
                <tbody>
                  {list.data.map((x) => (
                    <tr key={x.id}>
                      <td>
                        <Link className="row-title" to="/tools/$id" params={{ id: x.id }}>
                          {x.name}
                        </Link>
                      </td>
                      <td>
                        <Tag>{x.mcp ? t.mcp : t.http}</Tag>
                      </td>
                      <td className="wide-only">
                        <code style={{ overflowWrap: "anywhere" }}>{(x.http ?? x.mcp)?.url}</code>
                      </td>
                      <td>{changes(x) ? <Tag tone="warn">{t.changesShort}</Tag> : <Tag>{t.reads}</Tag>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
      <AddTool
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/tools/$id", params: { id } })}
      />
    </Page>
  );
}
