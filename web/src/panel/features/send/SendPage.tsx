import "@mantine/core/styles/Progress.css";
import "./send.css";
import { Button, Tabs } from "@mantine/core";
import { IconFileSpreadsheet, IconPhone, IconTemplate, IconUser } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { TabList } from "../../ui/TabList";
import { useLines } from "../lines/useLines";
import { addressOf, type Address } from "./address";
import { Files } from "./Files";
import { One } from "./One";
import { OneCall } from "./OneCall";
import { texts } from "./texts";
import { useTemplates } from "./useTemplates";

export function SendPage() {
  return (
    <Needs permission="notifications:send">
      <Send />
    </Needs>
  );
}

function Send() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/send" });
  const templates = useTemplates();
  const lines = useLines().data ?? [];
  const go = (to: Partial<Address>) =>
    void navigate({ to: "/send", replace: true, search: (now) => addressOf({ ...now, ...to }) });
  return (
    <Page title={t.title}>
      <Tabs
        value={address.tab ?? "one"}
        onChange={(v) => go({ tab: v === "files" || v === "call" ? v : undefined })}
        keepMounted={false}
      >
        <TabList mb={16} aria-label={t.toWhom}>
          <Tabs.Tab value="one" leftSection={<IconUser size={16} />}>
            {t.one}
          </Tabs.Tab>
          {lines.length > 0 && (
            <Tabs.Tab value="call" leftSection={<IconPhone size={16} />}>
              {t.oneCall}
            </Tabs.Tab>
          )}
          <Tabs.Tab value="files" leftSection={<IconFileSpreadsheet size={16} />}>
            {t.files}
          </Tabs.Tab>
        </TabList>
        <Tabs.Panel value="one">
          {templates.isPending ? (
            <Rows n={6} />
          ) : templates.isLoadingError ? (
            <Failed error={templates.error} retry={() => void templates.refetch()} />
          ) : templates.data.length === 0 ? (
            <Card flush label={t.title}>
              <Empty icon={<IconTemplate size={22} />} title={t.noTemplates} text={t.noTemplatesText}>
                <Button component={Link} to="/templates">
                  {t.toTemplates}
                </Button>
              </Empty>
            </Card>
          ) : (
            <One all={templates.data} chosen={address.template} choose={(id) => go({ template: id })} />
          )}
        </Tabs.Panel>
        {lines.length > 0 && (
          <Tabs.Panel value="call">
            <OneCall key={address.number} lines={lines} first={address} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="files">
          <Files template={address.template} choose={(id) => go({ template: id })} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
