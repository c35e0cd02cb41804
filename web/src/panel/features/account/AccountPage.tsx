import { useTexts } from "../../i18n";
import { useCan, useMe } from "../../session";
import { Forms, Page } from "../../ui/parts";
import { NoticesCard } from "../notices/NoticesCard";
import { FactorCard } from "./FactorCard";
import { PasswordCard } from "./PasswordCard";
import { SessionsCard } from "./SessionsCard";
import { texts } from "./texts";

export function AccountPage() {
  const t = useTexts(texts);
  const me = useMe();
  const can = useCan();
  return (
    <Page title={t.title} about={me.account.name ? `${me.account.name} · ${me.account.email}` : me.account.email}>
      <Forms>
        {can("conversations:answer") && <NoticesCard />}
        <SessionsCard />
        <FactorCard />
        <PasswordCard />
      </Forms>
    </Page>
  );
}
