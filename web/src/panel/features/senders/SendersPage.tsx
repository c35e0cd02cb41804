import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconMessage2Share, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { limitText } from "./limits";
import { Quality, SenderStateTag } from "./SenderState";
import { texts } from "./texts";
import type { SenderRow } from "./types";
import { useSenders } from "./useSenders";

export function SendersPage() {
  return (
    <Needs permission="senders:read">
      <Senders />
    </Needs>
  );
}

function Senders() {
  const t = useTexts(texts);
  const can = useCan();
  const list = useSenders();
  const create = can("senders:write") && (
    <Button component={Link} to="/senders/new" leftSection={<IconPlus size={16} />}>
      {t.create}
    </Button>
  );
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      {list.isPending ? (
        <Rows n={3} />
      ) : list.isError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Card flush label={t.title}>
          {list.data.length === 0 ? (
            <Empty icon={<IconMessage2Share size={22} />} title={t.empty} text={t.emptyText}>
              {create}
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.sender}</th>
                    <th className="wide-only">{t.kind}</th>
                    <th className="wide-only">{t.quality}</th>
                    <th className="wide-only">{t.limit}</th>
                    <th>{t.state}</th>
                  </tr>
                </thead>
                <tbody>
                  {list.data.map((s) => (
                    <Row key={s.id} sender={s} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
    </Page>
  );
}

function Row({ sender: s }: { sender: SenderRow }) {
  const t = useTexts(texts);
  const language = useLanguage();
  return (
    <tr>
      <td>
        <Link className="row-title" to="/senders/$id" params={{ id: s.id }}>
          {phone(s.number)}
        </Link>
        <div className="small muted">
          {[s.report.name, s.id === s.number ? "" : s.id, s.default ? t.standard : ""].filter(Boolean).join(" · ")}
        </div>
      </td>
      <td className="wide-only">
        {s.provider === "whatsapp" || s.provider === "sandbox" ? t[s.provider] : s.provider}
      </td>
      <td className="wide-only">
        <Quality rating={s.report.quality} />
      </td>
      <td className="wide-only">
        {s.report.messages ? limitText(s.report.messages, language, t) : <span className="muted">–</span>}
      </td>
      <td>
        <SenderStateTag sender={s} />
      </td>
    </tr>
  );
}
