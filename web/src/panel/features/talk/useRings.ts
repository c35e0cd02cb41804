import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { get } from "../../api";
import { fill } from "../../i18n";
import { inbox } from "../../live";
import { useCompany, useMe } from "../../session";
import type { Conversation, Listed, Presence, Update } from "./types";
import { nameOf } from "../inbox/model";
import { ring, useBell } from "./bell";
import { currentCall } from "./current";
import { ringing, rings, type Ring } from "./rings";
import { texts } from "./texts";

const most = 3; // cards at once

/** useRings is who rings for this teammate, with the sound and the notification that belong to it. show opens a conversation. */
export function useRings(show: (id: string) => void): { list: Ring[]; silence: (id: string) => void } {
  const company = useCompany();
  const me = useMe().account.id;
  const t = texts.now;
  const bell = useBell();
  const [all, setAll] = useState<Ring[]>([]);
  const [away, setAway] = useState(true); // until it is known
  const [silent, setSilent] = useState<ReadonlySet<string>>(new Set());

  useEffect(() => {
    let on = true;
    const asked = new Set<string>(); // for the name, once
    let meanwhile: Conversation[] | undefined; // what changed while the list was on its way is newer than the list
    const load = async () => {
      const changed: Conversation[] = (meanwhile = []);
      const [waiting, team] = await Promise.all([
        get("/conversations", { folder: "unassigned", limit: 100 }).then(
          (x) => x.data,
          () => [],
        ),
        get("/inbox/teammates").catch(() => ({ data: [] })),
      ]);
      if (meanwhile === changed) meanwhile = undefined;
      if (!on) return;
      setAway(team.data.find((x) => x.account_id === me)?.away ?? false);
      setAll([...waiting, ...changed].reduce<Ring[]>((list, c: Listed) => ringing(list, c, c.name), []));
    };
    void load();
    const leave = inbox.listen((e) => {
      if (e.event === "reset") void load();
      else if (e.event === "presence") {
        const p = e.data as Presence;
        if (p.account_id === me) setAway(p.away);
      } else if (e.event === "conversation.updated") {
        const { conversation: c } = e.data as Update;
        meanwhile?.push(c);
        setAll((list) => ringing(list, c));
        if (rings(c) && !asked.has(c.id)) {
          asked.add(c.id);
          get(`/conversations/${c.id}`).then(
            ({ contact }) => {
              if (on) setAll((list) => list.map((r) => (r.id === c.id ? { ...r, name: contact.name } : r)));
            },
            () => {},
          );
        }
        if (!rings(c)) setSilent((s) => (s.has(c.id) ? new Set([...s].filter((x) => x !== c.id)) : s));
      }
    });
    return () => {
      on = false;
      leave();
    };
  }, [company.id, me]);

  const list = useMemo(
    () =>
      away ? [] : all.filter((r) => !silent.has(r.id)).map((r) => ({ ...r, name: nameOf(r, r.contact, t.visitor) })),
    [all, away, silent, t],
  );
  const sounding = bell && list.length > 0 && !currentCall();
  useEffect(() => (sounding ? ring() : undefined), [sounding]);
  useNotification(list, fill(t.calls, { name: list[0]?.name ?? "" }), show);
  return { list: list.slice(0, most), silence: useCallback((id: string) => setSilent((s) => new Set([...s, id])), []) };
}

/** useNotification shows the first who rings outside the page, where the teammate has chosen that and does not look at the page. */
function useNotification(list: Ring[], text: string, show: (id: string) => void): void {
  const first = list[0]?.id;
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    if (!first || (document.visibilityState === "visible" && document.hasFocus()) || !wanted()) return;
    const shown = new Notification(text, { tag: "call-" + first, requireInteraction: true });
    shown.onclick = () => {
      window.focus();
      latest.current(first);
      shown.close();
    };
    return () => shown.close();
  }, [first, text]);
}

function wanted(): boolean {
  try {
    return (
      "Notification" in window &&
      Notification.permission === "granted" &&
      (JSON.parse(localStorage.getItem("carillon.inbox.notices") ?? "{}") as { desktop?: unknown }).desktop === true
    );
  } catch {
    return false;
  }
}
