import "@mantine/core/styles/Radio.css";
import "./senders.css";
import { Button, Radio, Switch, TextInput } from "@mantine/core";
import { IconBrandFacebook } from "@tabler/icons-react";
import { Link, useBlocker, useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent, type ReactNode } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { confirm } from "../../ui/confirm";
import { numberIn } from "../../ui/number";
import { Card, Page } from "../../ui/parts";
import { failed, why } from "../../ui/problem";
import { rules, shared } from "../../ui/texts";
import { AdvancedFields, IdFields, SecretFields, sent } from "./fields";
import { Findings } from "./Findings";
import { MetaLink, Needed } from "./Needed";
import { Steps } from "./Steps";
import { signUpTexts, texts } from "./texts";
import type { CloudSettings, NewSender, Report } from "./types";
import { checkNew, useSenderChanges, useSignUp } from "./useSenders";
import { newToken, remember } from "./verify";

export function ConnectPage() {
  return (
    <Needs permission="senders:write">
      <Connect />
    </Needs>
  );
}

interface Form {
  provider: "whatsapp" | "sandbox";
  number: string;
  id: string;
  standard: boolean;
  settings: CloudSettings;
}

/** required are the fields of each step; an error of another field leads to the step that has it. */
const required: Record<number, (keyof CloudSettings | "number")[]> = {
  1: ["number"],
  2: ["phone_number_id", "waba_id"],
  3: ["access_token", "app_secret", "verify_token"],
};
const stepOf = (field: string): number =>
  ["number", "id", "provider", "default"].includes(field)
    ? 1
    : ["settings.phone_number_id", "settings.waba_id"].includes(field)
      ? 2
      : 3;

function Connect() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const navigate = useNavigate();
  const { add } = useSenderChanges();
  const [step, setStep] = useState(1);
  const [v, setV] = useState<Form>(() => ({
    provider: "whatsapp",
    number: "",
    id: "",
    standard: false,
    settings: { verify_token: newToken() },
  }));
  const [errors, setErrors] = useState<Record<string, ReactNode>>({});
  const [busy, setBusy] = useState("");
  const [report, setReport] = useState<Report | null>(null);
  const set = (more: Partial<Form>) => {
    setV({ ...v, ...more });
    setErrors({});
    setReport(null);
  };
  const change = (more: Partial<CloudSettings>) => set({ settings: { ...v.settings, ...more } });
  const typed = Boolean(v.number || v.settings.access_token || v.settings.phone_number_id);
  useBlocker({
    disabled: !typed,
    enableBeforeUnload: () => typed,
    shouldBlockFn: async () =>
      !(await confirm({ title: s.leave, text: s.leaveText, action: s.discard, cancel: s.stay, danger: true })),
  });
  const value = (): NewSender => ({
    number: numberIn(v.number) || v.number.trim(),
    channel: "messaging",
    provider: v.provider,
    ...(v.standard ? { default: true } : {}),
    ...(v.id.trim() ? { id: v.id.trim() } : {}),
    settings: v.provider === "whatsapp" ? sent(v.settings) : {},
  });
  const complete = (): boolean => {
    const missing: Record<string, string> = {};
    for (const f of required[step]!)
      if (!(f === "number" ? v.number.trim() : v.settings[f]))
        missing[f === "number" ? f : "settings." + f] = s.required;
    if (step === 1 && v.number.trim() && !numberIn(v.number)) missing.number = rules.now.number!;
    for (const f of ["phone_number_id", "waba_id"] as const)
      if (step === 2 && v.settings[f] && !/^\d+$/.test(v.settings[f])) missing["settings." + f] = t.metaNumber;
    setErrors(missing);
    return Object.keys(missing).length === 0;
  };
  /** run sends the form; an error of a field is shown where the field is. */
  const run = async (what: string, send: () => Promise<void>) => {
    setBusy(what);
    try {
      await send();
    } catch (e) {
      const field = e instanceof Problem ? e.field : "";
      if (e instanceof Problem && field) {
        setErrors({ [field]: why(e) });
        setStep(stepOf(field));
      } else failed(e);
    } finally {
      setBusy("");
    }
  };
  const save = () =>
    run("save", async () => {
      const made = await add(value());
      if (v.settings.verify_token) remember(made.id, v.settings.verify_token);
      void navigate({
        to: v.provider === "whatsapp" ? "/senders/$id/connect" : "/senders/$id",
        params: { id: made.id },
        ignoreBlocker: true,
      });
    });
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (!complete()) return;
    if (step === 3 || v.provider === "sandbox") void save();
    else setStep(step + 1);
  };
  const fields = { value: v.settings, change, error: (f: string) => errors[f] };
  const title = [t.sender, t.meta, t.access][step - 1]!;
  return (
    <Page title={t.create} back={{ to: "/senders", text: t.back }}>
      {step === 1 && <ByFacebook />}
      {v.provider === "whatsapp" && <Steps at={step} />}
      <form className="connect-narrow" onSubmit={submit} noValidate>
        <Card title={title}>
          <div className="stack" key={step}>
            {step === 1 && (
              <>
                {v.provider === "whatsapp" && <Needed />}
                <Radio.Group
                  label={t.kind}
                  description={t.kindHelp}
                  value={v.provider}
                  onChange={(to) => set({ provider: to })}
                >
                  <div className="stack" style={{ gap: 12, marginTop: 8 }}>
                    <Radio value="whatsapp" label={t.whatsapp} description={t.whatsappHelp} />
                    <Radio value="sandbox" label={t.sandbox} description={t.sandboxHelp} />
                  </div>
                </Radio.Group>
                <TextInput
                  label={t.number}
                  description={t.numberHelp}
                  inputMode="tel"
                  autoComplete="off"
                  autoFocus
                  value={v.number}
                  onChange={(e) => set({ number: e.currentTarget.value })}
                  error={errors.number}
                />
                <TextInput
                  label={`${t.id} (${s.optional})`}
                  description={t.idHelp}
                  spellCheck={false}
                  autoComplete="off"
                  value={v.id}
                  onChange={(e) => set({ id: e.currentTarget.value })}
                  error={errors.id}
                />
                <Switch
                  label={t.standardHelp}
                  checked={v.standard}
                  onChange={(e) => set({ standard: e.currentTarget.checked })}
                />
              </>
            )}
            {step === 2 && (
              <>
                <p className="muted flat">
                  {t.metaAbout} <MetaLink to="https://developers.facebook.com/apps/" />
                </p>
                <IdFields {...fields} />
              </>
            )}
            {step === 3 && (
              <>
                <p className="flat">
                  <MetaLink to="https://business.facebook.com/settings/system-users" />
                </p>
                <SecretFields {...fields} />
                <AdvancedFields {...fields} />
              </>
            )}
          </div>
        </Card>
        {step === 3 && report && (
          <div style={{ marginTop: 16 }}>
            <Card label={t.step5}>
              <Findings report={report} />
            </Card>
          </div>
        )}
        <div className="connect-foot">
          {step > 1 && (
            <Button variant="default" onClick={() => setStep(step - 1)}>
              {s.back}
            </Button>
          )}
          {step === 3 && (
            <Button
              variant="default"
              loading={busy === "check"}
              disabled={Boolean(busy)}
              onClick={() => {
                if (complete()) void run("check", async () => setReport(await checkNew(value())));
              }}
            >
              {t.checkFirst}
            </Button>
          )}
          <Button type="submit" loading={busy === "save"} disabled={Boolean(busy)}>
            {v.provider === "sandbox" ? t.create : step === 3 ? t.saveGo : t.next}
          </Button>
        </div>
      </form>
    </Page>
  );
}

/** ByFacebook leads to the sign-up by Facebook's dialog, if the operator has an app for it. It is a document of its own. */
function ByFacebook() {
  const t = useTexts(signUpTexts);
  const dialog = useSignUp();
  if (!dialog.data?.app_id) return null;
  return (
    <div className="connect-narrow connect-facebook">
      <Card title={t.title}>
        <p className="flat">{t.short}</p>
        <Button
          mt={12}
          leftSection={<IconBrandFacebook size={18} />}
          renderRoot={(props) => <Link to="/senders/sign-up" reloadDocument {...props} />}
        >
          {t.connect}
        </Button>
      </Card>
    </div>
  );
}
