import { IconDots } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useTexts } from "../i18n";
import { useCan } from "../session";
import { pagesOf } from "./sections";
import { texts } from "./texts";

const most = ["/", "/inbox", "/calls", "/send", "/notifications"];

/** BottomBar has the pages that are used most, on a phone; more opens the whole menu. */
export function BottomBar({ menu, more }: { menu: boolean; more: () => void }) {
  const t = useTexts(texts);
  const can = useCan();
  const pages = pagesOf(can);
  const shown = most.flatMap((to) => pages.find((p) => p.to === to) ?? []).slice(0, 4);
  return (
    <div className="bottom-bar">
      {shown.map(({ to, text, short, icon: Icon, count: Count }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === "/" }}>
          <Icon size={20} stroke={1.7} aria-hidden="true" />
          <span>{t[short ?? text]}</span>
          {Count && <Count />}
        </Link>
      ))}
      <button type="button" aria-expanded={menu} onClick={more}>
        <IconDots size={20} stroke={1.7} aria-hidden="true" />
        <span>{t.more}</span>
      </button>
    </div>
  );
}
