import { Link, useRouterState } from "@tanstack/react-router";
import { useTexts } from "../i18n";
import { useCan } from "../session";
import { useFading } from "../ui/fading";
import { covers, entryAt, tabsOf } from "./sections";
import { texts } from "./texts";

/** SubNav are the pages of an entry of the navigation that has several. */
export function SubNav() {
  const t = useTexts(texts);
  const can = useCan();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const list = useFading<HTMLElement>(path);
  const entry = entryAt(path);
  const tabs = entry?.tabs && tabsOf(entry, can);
  if (!entry || !tabs || tabs.length < 2 || !tabs.some((p) => covers(p, path))) return null;
  return (
    <nav ref={list} className="sub-nav fading-x" aria-label={t[entry.text]}>
      {tabs.map((p) => (
        <Link key={p.to} to={p.to}>
          {t[p.text]}
        </Link>
      ))}
    </nav>
  );
}
