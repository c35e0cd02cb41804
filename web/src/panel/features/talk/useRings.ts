import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { everything, get } from "../../api";
import { useLanguage, fill } from "../../i18n";
import { inbox } from "../../live";
import { useCompany, useMe } from "../../session";
import type { Conversation, Listed, Presence, Teammate, Thread, Update } from "../../types";
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
  const t = texts[useLanguage()];
  const bell = useBell();
  const [all, setAll] = useState<Ring[]>([]);
  const [away, setAway] = useState(true); // until it is known
  const [silent, setSilent] = useState<ReadonlySet<string>>(new Set());
  const named = useCallback((c: Conversation, name?: string) => nameOf(name, c.contact_id, t.visitor), [t]);

  useEffect(() => {
    let on = true;
    const add = (c: Conversation, name?: string) => { if (on) setAll((list) => ringing(list, c, name)); };
    const load = async () => {
      const [waiting, team] = await Promise.all([
        everything<Listed>("/conversations", { folder: "unassigned" }).catch(() => []), get<{ data: Teammate[] }>("/inbox/teammates").catch(() => ({ data: [] })),
      ]);
      if (!on) return;
      setAway(team.data.find((x) => x.account_id === me)?.away ?? false);
      setAll(waiting.filter(rings).reduce<Ring[]>((list, c) => ringing(list, c, named(c, c.name)), []));
    };
    void load();
    const leave = inbox.listen((e) => {
      if (e.event === "reset") void load();
      else if (e.event === "presence") {
        const p = e.data as Presence;
        if (p.account_id === me) setAway(p.away);
      } else if (e.event === "conversation.updated") {
        const { conversation: c } = e.data as Update;
        add(c, named(c));
        if (rings(c)) get<Thread>("/conversations/" + c.id).then((x) => { if (x.contact.name && rings(x.conversation)) add(x.conversation, x.contact.name); }, () => {});
        else setSilent((s) => (s.has(c.id) ? new Set([...s].filter((x) => x !== c.id)) : s));
      }
    });
    return () => { on = false; leave(); };
  }, [company.id, me, named]);

  const list = useMemo(() => (away ? [] : all.filter((r) => !silent.has(r.id))), [all, away, silent]);
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
    shown.onclick = () => { window.focus(); latest.current(first); shown.close(); };
    return () => shown.close();
  }, [first, text]);
}

function wanted(): boolean {
  try { return "Notification" in window && Notification.permission === "granted" && JSON.parse(localStorage.getItem("carillon.inbox.notices") ?? "{}").desktop === true; } catch { return false; }
}
