import type { ReactNode } from "react";
import { ActionIcon, PasswordInput, TextInput } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { texts } from "./texts";
import type { CloudSettings } from "./types";
import { newToken } from "./verify";

interface Fields {
  value: CloudSettings;
  change: (more: Partial<CloudSettings>) => void;
  error: (field: string) => ReactNode;
  set?: string[];
}

/** IdFields are where a number is at Meta. */
export function IdFields({ value: v, change, error }: Fields) {
  const t = useTexts(texts);
  const id = (name: "phone_number_id" | "waba_id", label: string, help: string) => (
    <TextInput
      label={label}
      description={help}
      inputMode="numeric"
      autoComplete="off"
      spellCheck={false}
      value={v[name] ?? ""}
      onChange={(e) => change({ [name]: e.currentTarget.value.trim() })}
      error={error("settings." + name)}
    />
  );
  return (
    <>
      {id("phone_number_id", t.phoneId, t.phoneIdHelp)}
      {id("waba_id", t.wabaId, t.wabaIdHelp)}
    </>
  );
}

/** SecretFields are written and never read: set names those that are stored. */
export function SecretFields({ value: v, change, error, set = [] }: Fields) {
  const t = useTexts(texts);
  const secret = (name: "access_token" | "app_secret", label: string, help: string) => (
    <PasswordInput
      label={label}
      description={help}
      placeholder={set.includes(name) ? t.isSet : undefined}
      autoComplete="new-password"
      spellCheck={false}
      visibilityToggleButtonProps={{ "aria-label": label }}
      value={v[name] ?? ""}
      onChange={(e) => change({ [name]: e.currentTarget.value.trim() || undefined })}
      error={error("settings." + name)}
    />
  );
  return (
    <>
      {secret("access_token", t.token, t.tokenHelp)}
      {secret("app_secret", t.secret, t.secretHelp)}
      <TextInput
        label={t.verify}
        description={t.verifyHelp}
        placeholder={set.includes("verify_token") ? t.isSet : undefined}
        autoComplete="off"
        spellCheck={false}
        value={v.verify_token ?? ""}
        onChange={(e) => change({ verify_token: e.currentTarget.value.trim() || undefined })}
        error={error("settings.verify_token")}
        rightSection={
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t.renew}
            title={t.renew}
            onClick={() => change({ verify_token: newToken() })}
          >
            <IconRefresh size={16} />
          </ActionIcon>
        }
      />
    </>
  );
}

/** AdvancedFields are those that hardly anybody needs. */
export function AdvancedFields({ value: v, change, error }: Fields) {
  const t = useTexts(texts);
  const open = Boolean(error("settings.base_url") || error("settings.version"));
  return (
    <details className="sender-advanced" open={open || undefined}>
      <summary>{t.advanced}</summary>
      <div className="stack">
        <TextInput
          label={t.version}
          description={t.versionHelp}
          placeholder="v23.0"
          autoComplete="off"
          spellCheck={false}
          value={v.version ?? ""}
          onChange={(e) => change({ version: e.currentTarget.value.trim() })}
          error={error("settings.version")}
        />
        <TextInput
          label={t.baseUrl}
          description={t.baseUrlHelp}
          placeholder="https://graph.facebook.com"
          type="url"
          autoComplete="off"
          spellCheck={false}
          value={v.base_url ?? ""}
          onChange={(e) => change({ base_url: e.currentTarget.value.trim() })}
          error={error("settings.base_url")}
        />
      </div>
    </details>
  );
}

/** usual are the addresses and versions that an empty field means. */
const usual = { base_url: "https://graph.facebook.com", version: "v23.0" } as const;

/** sent are settings as the server takes them: what is empty is left out, or the usual again where something else is stored. */
export function sent(v: CloudSettings, stored: CloudSettings = {}): CloudSettings {
  const out: CloudSettings = {};
  for (const [name, value] of Object.entries(v) as [keyof CloudSettings, string | undefined][]) {
    if (value) out[name] = value;
    else if (name === "agent" && stored.agent) out.agent = "";
    else if (name in usual && stored[name]) out[name] = usual[name as keyof typeof usual];
  }
  return out;
}
