import { useEffect, type RefObject } from "react";
import { useTexts } from "../../i18n";
import { listShortcuts } from "../../shell/Shortcuts";
import { writing } from "../../ui/keys";
import { listTexts } from "../../ui/texts";
import { texts } from "./texts";

/** useKeys moves through the rows of a list with j and k: the link of a row takes the focus, so that Enter opens it. */
export function useKeys(box: RefObject<HTMLElement | null>) {
  const t = useTexts(texts);
  const l = useTexts(listTexts);
  useEffect(() => {
    const move = (e: KeyboardEvent) => {
      if ((e.key !== "j" && e.key !== "k") || e.ctrlKey || e.metaKey || e.altKey || writing(e.target)) return;
      const links = [
        ...(box.current?.querySelectorAll<HTMLElement>("tbody a.sent-link, tbody button.sent-link") ?? []),
      ];
      const at = links.findIndex((l) => l === document.activeElement);
      const next = links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + (e.key === "j" ? 1 : -1)))];
      next?.focus({ preventScroll: true });
      next?.scrollIntoView({ block: "nearest" });
    };
    window.addEventListener("keydown", move);
    return () => window.removeEventListener("keydown", move);
  }, [box]);
  useEffect(
    () =>
      listShortcuts(t.title, [
        { keys: ["j"], text: l.keyNext },
        { keys: ["k"], text: l.keyBack },
        { keys: ["Enter"], text: l.keyOpen },
        { keys: ["/"], text: t.keyFind },
      ]),
    [t, l],
  );
}
