import { Button } from "@mantine/core";
import { IconPhoneIncoming, IconPhoneOff } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { VoiceLine } from "../lines/types";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { useList } from "../../ui/resources";
import { useLines } from "../lines/useLines";
import { PhoneCallRow } from "./PhoneCalls";
import { PhoneForm } from "./PhoneForm";
import { Tabs } from "./Tabs";
import { texts } from "./texts";
import { usePhone } from "./usePhone";
import "./sandbox.css";

export function SandboxPage() {
  return (
    <Needs permission="notifications:read">
      <Sandbox />
    </Needs>
  );
}

function Sandbox() {
  const t = useTexts(texts);
  const lines = useLines(false);
  const own = lines.data?.filter((l) => l.provider === "sandbox");
  return (
    <Page title={t.title} about={t.about}>
      <Tabs at="calls" />
      {!own ? (
        lines.isError ? (
          <Failed error={lines.error} retry={() => void lines.refetch()} />
        ) : (
          <Rows n={3} />
        )
      ) : own.length === 0 ? (
        <Card flush label={t.title}>
          <Empty icon={<IconPhoneOff size={22} />} title={t.none} text={t.noneText}>
            <Button component={Link} to="/lines" variant="default">
              {t.toLines}
            </Button>
          </Empty>
        </Card>
      ) : (
        <Phone lines={own} />
      )}
    </Page>
  );
}

function Phone({ lines }: { lines: VoiceLine[] }) {
  const t = useTexts(texts);
  const can = useCan()("notifications:send");
  const agents = useList("agents");
  const phone = usePhone();
  const list = (
    <Card flush title={t.got}>
      {phone.isPending ? (
        <Rows n={3} />
      ) : phone.isLoadingError ? (
        <Failed error={phone.error} retry={() => void phone.refetch()} />
      ) : phone.data.data.length === 0 ? (
        <Empty icon={<IconPhoneIncoming size={22} />} title={t.empty} text={t.emptyText} />
      ) : (
        <ul className="phone-calls" aria-live="polite" aria-label={t.got}>
          {phone.data.data.map((c) => (
            <PhoneCallRow key={c.id} call={c} />
          ))}
        </ul>
      )}
      <p className="small muted phone-foot">{t.node}</p>
    </Card>
  );
  if (!can) return list;
  return (
    <div className="side-by-side phone-page">
      <div>{list}</div>
      <Card title={t.form}>
        {agents.data ? (
          <PhoneForm
            lines={lines}
            agents={agents.data.filter((a) => a.engine !== "elevenlabs")}
            called={({ number }) => succeeded(fill(t.called, { number }))}
          />
        ) : (
          <Rows n={2} />
        )}
      </Card>
    </div>
  );
}
