import "./activity.css";
import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Page } from "../../ui/parts";
import { addressOf, noFilters, type Address } from "./address";
import { CallDrawer } from "./CallDrawer";
import { Calls } from "./Calls";
import { ChangeDrawer } from "./ChangeDrawer";
import { Changes } from "./Changes";
import { texts } from "./texts";

export function ActivityPage() {
  return (
    <Needs permission="activity:read">
      <Activity />
    </Needs>
  );
}

/** Go changes the address of the page. */
export type Go = (to: Partial<Record<keyof Address, string | undefined>>) => void;

function Activity() {
  const t = useTexts(texts);
  const mayChanges = useCan()("changes:read");
  const navigate = useNavigate();
  const read = addressOf(useSearch({ strict: false }));
  const address = mayChanges ? read : { ...read, tab: undefined };
  const go: Go = useCallback(
    (to) =>
      void navigate({ to: "/activity", replace: true, search: (now: Record<string, unknown>) => ({ ...now, ...to }) }),
    [navigate],
  );
  const open = useCallback(
    (id: string) => void navigate({ to: "/activity", search: (now: Record<string, unknown>) => ({ ...now, id }) }),
    [navigate],
  );
  const close = useCallback(() => go({ id: undefined }), [go]);
  const changes = address.tab === "changes";
  const views = <Calls address={address} go={go} open={open} />;
  return (
    <Page wide title={t.title} about={t.about}>
      {!mayChanges ? (
        views
      ) : (
        <Tabs
          value={changes ? "changes" : "calls"}
          onChange={(v) => go({ ...noFilters, id: undefined, tab: v === "changes" ? "changes" : undefined })}
        >
          <Tabs.List mb={16} aria-label={t.tabs}>
            <Tabs.Tab value="calls">{t.calls}</Tabs.Tab>
            <Tabs.Tab value="changes">{t.changes}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value={changes ? "changes" : "calls"}>
            {changes ? <Changes address={address} go={go} open={open} /> : views}
          </Tabs.Panel>
        </Tabs>
      )}
      <CallDrawer id={changes ? undefined : address.id} close={close} />
      {mayChanges && <ChangeDrawer id={changes ? address.id : undefined} close={close} go={go} />}
    </Page>
  );
}
