// What stands where a page cannot.
import { Button } from "@mantine/core";
import { IconLock, IconMapOff, IconPlugConnectedX, IconBuildingOff } from "@tabler/icons-react";
import { Link, useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { useCallback, useEffect, type ReactNode } from "react";
import { Problem, Unreachable } from "../api";
import { useTexts } from "../i18n";
import { useCan } from "../session";
import { Empty, Failed, Rows } from "../ui/parts";
import { useBack } from "../ui/waiting";
import { shared } from "../ui/texts";
import { signOut } from "./actions";
import { texts } from "./texts";

const reload = () => location.reload();

/** Nowhere is the error of an account without a company. */
export class Nowhere extends Error {}

export function Lost() {
  const t = useTexts(shared);
  return (
    <div className="page">
      <Empty main icon={<IconMapOff size={22} />} title={t.lost} text={t.lostText}>
        <Button component={Link} to="/">
          {t.home}
        </Button>
      </Empty>
    </div>
  );
}

export function Denied() {
  const t = useTexts(shared);
  return (
    <div className="page">
      <Empty main icon={<IconLock size={22} />} title={t.denied} text={t.deniedText}>
        <Button component={Link} to="/" variant="default">
          {t.home}
        </Button>
      </Empty>
    </div>
  );
}

/** Arriving stands where a page will be whose files are being loaded. */
export function Arriving() {
  return (
    <div className="page">
      <Rows />
    </div>
  );
}

/** Crashed stands in for a page that did not load. A file that is gone since an update is loaded once with the whole page. */
export function Crashed({ error, reset }: ErrorComponentProps) {
  const t = useTexts(shared);
  const s = useTexts(texts);
  const router = useRouter();
  const gone = /dynamically imported module|Importing a module|preload/i.test(String(error));
  useEffect(() => {
    if (!gone || !navigator.onLine) return;
    try {
      if (sessionStorage.getItem("carillon.reloaded") === location.pathname) return;
      sessionStorage.setItem("carillon.reloaded", location.pathname);
      location.reload();
    } catch {
      /* no storage: the button does it */
    }
  }, [gone]);
  const retry = useCallback(() => {
    reset();
    void router.invalidate();
  }, [reset, router]);
  useBack(gone ? reload : retry);
  if (error instanceof Nowhere) {
    return (
      <main className="page">
        <Empty main icon={<IconBuildingOff size={22} />} title={s.nowhere} text={s.nowhereText}>
          <Button onClick={() => void signOut()} variant="default">
            {s.signOut}
          </Button>
        </Empty>
      </main>
    );
  }
  if (error instanceof Problem || error instanceof Unreachable)
    return (
      <main className="page">
        <Failed error={error} retry={retry} />
      </main>
    );
  return (
    <main className="page">
      <Empty main icon={<IconPlugConnectedX size={22} />} title={t.crashed} text={t.crashedText}>
        <Button onClick={reload}>{t.reload}</Button>
      </Empty>
    </main>
  );
}

/** Needs shows its children to who has a permission. */
export function Needs({ permission, children }: { permission: string; children: ReactNode }) {
  return useCan()(permission) ? <>{children}</> : <Denied />;
}
