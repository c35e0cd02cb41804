import "./activity.css";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { texts as shell } from "../../shell/texts";
import { Page } from "../../ui/parts";
import { addressOf, type Address } from "./address";
import { CallDrawer } from "./CallDrawer";
import { Calls } from "./Calls";
import { ChangeDrawer } from "./ChangeDrawer";
import { Changes } from "./Changes";

/** Go changes the address of the page. */
export type Go = (to: Partial<Record<keyof Address, string | undefined>>) => void;

/** useAddress reads the address of a log, and changes it. */
function useAddress(to: "/api-log" | "/change-log") {
  const navigate = useNavigate();
  const address = addressOf(useSearch({ strict: false }));
  const go: Go = useCallback(
    (change) => void navigate({ to, replace: true, search: (now) => addressOf({ ...now, ...change }) }),
    [navigate, to],
  );
  const open = useCallback(
    (id: string) => void navigate({ to, search: (now) => addressOf({ ...now, id }) }),
    [navigate, to],
  );
  const close = useCallback(() => go({ id: undefined }), [go]);
  return { address, go, open, close };
}

/** ApiLogPage lists the API calls that were refused or failed, and the accepted sends. */
export function ApiLogPage() {
  return (
    <Needs permission="activity:read">
      <ApiLog />
    </Needs>
  );
}

function ApiLog() {
  const t = useTexts(shell);
  const { address, go, open, close } = useAddress("/api-log");
  return (
    <Page title={t.apiLog}>
      <Calls address={address} go={go} open={open} />
      <CallDrawer id={address.id} close={close} />
    </Page>
  );
}

/** ChangeLogPage lists who changed what. */
export function ChangeLogPage() {
  return (
    <Needs permission="changes:read">
      <ChangeLog />
    </Needs>
  );
}

function ChangeLog() {
  const t = useTexts(shell);
  const { address, go, open, close } = useAddress("/change-log");
  return (
    <Page title={t.changeLog}>
      <Changes address={address} go={go} open={open} />
      <ChangeDrawer id={address.id} close={close} go={go} />
    </Page>
  );
}
