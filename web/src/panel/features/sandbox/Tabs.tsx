import { Link } from "@tanstack/react-router";
import { useTexts } from "../../i18n";
import { phoneTexts as texts } from "./texts";
import "./handset.css";

/** Tabs are what the sandbox's phone gets: calls and messages. */
export function Tabs({ at }: { at: "calls" | "messages" }) {
  const t = useTexts(texts);
  return (
    <nav className="sandbox-tabs" aria-label={t.views}>
      <Link to="/sandbox" activeOptions={{ exact: true }} aria-current={at === "calls" ? "page" : undefined}>
        {t.calls}
      </Link>
      <Link to="/sandbox/messages" aria-current={at === "messages" ? "page" : undefined}>
        {t.messages}
      </Link>
    </nav>
  );
}
