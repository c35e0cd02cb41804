import { IconExternalLink } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import { base } from "../widgets/places";
import { reachable } from "./reachable";
import { texts } from "./texts";

/** Needed lists what a number at Meta takes, before anybody fills in a form that cannot be finished. */
export function Needed() {
  const t = useTexts(texts);
  return (
    <>
      <div>
        <div className="field-label">{t.need}</div>
        <ul className="connect-needs">
          <li>
            {t.needAccount} <MetaLink to="https://business.facebook.com/" />
          </li>
          <li>
            {t.needApp} <MetaLink to="https://developers.facebook.com/apps/" />
          </li>
          <li>{t.needNumber}</li>
          <li>{t.needUrl}</li>
        </ul>
        <a href="/docs/guides/whatsapp" target="_blank" rel="noopener">
          {t.needGuide}
        </a>
      </div>
      {!reachable(base) && (
        <Note tone="warn">
          <p>{t.privateBase}</p>
        </Note>
      )}
    </>
  );
}

/** MetaLink leads to a page of Meta's, in another tab: the form stays as it is. */
export function MetaLink({ to }: { to: string }) {
  const t = useTexts(texts);
  return (
    <a href={to} target="_blank" rel="noopener noreferrer" className="nowrap">
      {t.atMeta}
      <IconExternalLink size={14} aria-hidden="true" style={{ marginInlineStart: 4 }} />
      <span className="hidden"> {t.opensNew}</span>
    </a>
  );
}
