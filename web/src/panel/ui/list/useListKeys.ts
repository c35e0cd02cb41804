import { useEffect, useRef } from "react";
import { useTexts } from "../../i18n";
import { listShortcuts } from "../../shell/Shortcuts";
import { writing } from "../keys";
import { listTexts } from "../texts";

/**
 * useListKeys moves through the rows of a list with j and k: the link of a row takes the focus, so that Enter opens it.
 * x selects the row. `find` is what the key / finds.
 */
export function useListKeys(title: string, find?: string, toggle?: (id: string, range: boolean) => void) {
  const box = useRef<HTMLDivElement>(null);
  const t = useTexts(listTexts);
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const key = e.key.toLowerCase();
      if (!"jkx".includes(key) || e.ctrlKey || e.metaKey || e.altKey || writing(e.target)) return;
      if (document.querySelector("[role=dialog]")) return;
      const rows = [...(box.current?.querySelectorAll<HTMLElement>("tbody tr") ?? [])];
      const at = rows.findIndex((r) => r.contains(document.activeElement));
      if (key === "x") {
        if (at >= 0) toggle?.(rows[at]!.dataset.id!, e.shiftKey);
        return;
      }
      const row = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + (key === "j" ? 1 : -1)))];
      const focus = row?.querySelector<HTMLElement>("[data-main]") ?? row?.querySelector<HTMLElement>("input, button");
      focus?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: "nearest" });
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [toggle]);
  const selects = !!toggle;
  useEffect(
    () =>
      listShortcuts(title, [
        { keys: ["J"], text: t.keyNext },
        { keys: ["K"], text: t.keyBack },
        { keys: ["Enter"], text: t.keyOpen },
        ...(selects ? [{ keys: ["X"], text: t.keySelect }] : []),
        ...(find ? [{ keys: ["/"], text: find }] : []),
      ]),
    [t, title, find, selects],
  );
  return box;
}
