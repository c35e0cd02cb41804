import { Button } from "@mantine/core";
import { IconFilterOff, IconSend } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Card, Copy, Empty, Failed, Rows } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { narrowed, type Address } from "./address";
import { texts } from "./texts";
import { useAccepted } from "./useActivity";

/** AcceptedList are references to requests to send that were accepted; each leads to its notification. */
export function AcceptedList({ address }: { address: Address }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const list = useAccepted(address);
  if (list.isPending) return <Rows n={8} />;
  if (list.isError && !list.data)
    return (
      <Card flush label={t.accepted}>
        <Failed error={list.error} retry={() => void list.refetch()} />
      </Card>
    );
  const rows = list.data!.pages.flatMap((p) => p.data);
  if (rows.length === 0) {
    return (
      <Card flush label={t.accepted}>
        {narrowed(address) ? (
          <Empty icon={<IconFilterOff size={22} />} title={t.noneFound} text={t.acceptedAbout} />
        ) : (
          <Empty icon={<IconSend size={22} />} title={t.noneAccepted} text={t.noneAcceptedText} />
        )}
      </Card>
    );
  }
  return (
    <>
      <p className="small muted activity-about">{t.acceptedAbout}</p>
      <Card flush label={t.accepted}>
        <div className="table-wrap">
          <table className="table activity-table activity-accepted">
            <thead>
              <tr>
                <th>{t.notification}</th>
                <th className="wide-only">{t.request}</th>
                <th className="wide-only">{t.key}</th>
                <th>{t.when}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((r) => (
                <tr key={r.notification_id}>
                  <td>
                    <Link
                      className="row-title activity-link"
                      to="/notifications/$id"
                      params={{ id: r.notification_id }}
                    >
                      <span className="cut">
                        {r.voice ? t.call : t.message} …{r.notification_id.slice(-8)}
                      </span>
                    </Link>
                  </td>
                  <td className="wide-only">
                    <span className="activity-id">
                      <code className="cut">{r.request_id}</code>
                      <Copy value={r.request_id} label={`${s.copy}: ${r.request_id}`} />
                    </span>
                  </td>
                  <td className="wide-only">
                    <span className="cut activity-second">{r.key.label || t.keyGone}</span>
                  </td>
                  <td>
                    <Ago at={r.at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      {list.hasNextPage && (
        <div className="activity-older">
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage().catch(failed)}
          >
            {s.more}
          </Button>
        </div>
      )}
    </>
  );
}
