import "./senders.css";
import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { Failed, Page, Rows } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { AccessStep } from "./AccessStep";
import { CallbackCard } from "./CallbackCard";
import { CheckCard } from "./CheckCard";
import { HistoryCard } from "./HistoryCard";
import { RegisterCard } from "./RegisterCard";
import { Steps } from "./Steps";
import { texts } from "./texts";
import { useSender, useSenderState } from "./useSenders";

export function FinishPage() {
  return (
    <Needs permission="senders:write">
      <Finish />
    </Needs>
  );
}

/** Finish are the last two steps of connecting a number that is stored: its callbacks and a check. */
function Finish() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const { id } = useParams({ from: "/shell/senders/$id/connect" });
  const { step } = useSearch({ from: "/shell/senders/$id/connect" });
  const navigate = useNavigate();
  const one = useSender(id);
  const state = useSenderState(id, 2_000);
  const report = state.data?.report;
  const checking = step === "check";
  const verified = Boolean(report?.handshake_at || report?.callback_at);
  const go = (to?: "access" | "check") =>
    void navigate({ to: "/senders/$id/connect", params: { id }, search: to ? { step: to } : {} });
  return (
    <Page title={t.create} about={one.data && phone(one.data.number)} back={{ to: "/senders", text: t.back }}>
      {one.isError ? (
        <Failed error={one.error} retry={() => void one.refetch()} />
      ) : !one.data ? (
        <Rows n={3} />
      ) : (
        <>
          <Steps at={checking ? 5 : step === "access" ? 3 : 4} open={checking && !verified ? [4] : []} />
          <div className="connect-narrow">
            {step === "access" ? (
              <AccessStep stored={one.data} next={() => go()} />
            ) : checking ? (
              <>
                <CheckCard id={id} waba={one.data.settings.waba_id} report={report} atOnce />
                <RegisterCard id={id} report={report} />
                <HistoryCard id={id} state={state.data} />
              </>
            ) : (
              <CallbackCard sender={one.data} report={report} waiting />
            )}
            {checking && report?.checked_at && report.worst !== "bad" && (
              <div className="note ok connect-try">
                <div>
                  <p>{t.tryItText}</p>
                  <Button size="compact-sm" variant="default" renderRoot={(props) => <Link to="/send" {...props} />}>
                    {t.tryIt}
                  </Button>
                </div>
              </div>
            )}
            {step !== "access" && (
              <div className="connect-foot">
                {checking ? (
                  <>
                    <Button variant="default" onClick={() => go()}>
                      {s.back}
                    </Button>
                    <Button component={Link} to={"/senders/" + encodeURIComponent(id)}>
                      {t.finish}
                    </Button>
                  </>
                ) : (
                  <>
                    <Button variant="default" onClick={() => go("access")}>
                      {s.back}
                    </Button>
                    <Button onClick={() => go("check")}>{t.goCheck}</Button>
                  </>
                )}
              </div>
            )}
          </div>
        </>
      )}
    </Page>
  );
}
