import { useTexts } from "../../i18n";
import { useMe } from "../../session";
import { Page } from "../../ui/parts";
import { FactorCard } from "./FactorCard";
import { PasswordCard } from "./PasswordCard";
import { SessionsCard } from "./SessionsCard";
import { texts } from "./texts";

export function AccountPage() {
  const t = useTexts(texts);
  const me = useMe();
  return (
    <Page title={t.title} about={me.account.name ? `${me.account.name} · ${me.account.email}` : me.account.email}>
      <div className="stack">
        <SessionsCard />
        <FactorCard />
        <PasswordCard />
      </div>
    </Page>
  );
}
