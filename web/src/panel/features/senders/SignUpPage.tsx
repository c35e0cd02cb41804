import "@mantine/core/styles/Radio.css";
import "./senders.css";
import { Button, Radio } from "@mantine/core";
import { IconBrandFacebook } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { Problem } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { English } from "../../ui/English";
import { Card, Failed, Note, Page, Rows } from "../../ui/parts";
import { requestOf, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { base } from "../widgets/places";
import { reachable } from "./reachable";
import { leave, loadSDK, signIn, type Outcome } from "./signup";
import { signUpTexts, texts } from "./texts";
import type { SignUpDialog } from "./types";
import { useSenderChanges, useSignUp } from "./useSenders";

export function SignUpPage() {
  return (
    <Needs permission="senders:write">
      <SignUp />
    </Needs>
  );
}

/** SignUp connects a number by Facebook's dialog. The server lets no other page load Facebook's scripts. */
function SignUp() {
  const t = useTexts(signUpTexts);
  const l = useTexts(texts);
  const dialog = useSignUp();
  useEffect(() => leave, []);
  return (
    <Page title={t.title} back={{ to: "/senders/new", text: l.create }}>
      <div className="connect-narrow">
        {dialog.isError && !dialog.data ? (
          <Failed error={dialog.error} retry={() => void dialog.refetch()} />
        ) : !dialog.data ? (
          <Rows n={3} />
        ) : dialog.data.app_id ? (
          <Dialog dialog={dialog.data} />
        ) : (
          <Card title={t.section}>
            <p className="flat">{t.absent}</p>
          </Card>
        )}
      </div>
    </Page>
  );
}

function Dialog({ dialog }: { dialog: SignUpDialog }) {
  const t = useTexts(signUpTexts);
  const l = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const navigate = useNavigate();
  const { signUp } = useSenderChanges();
  const [kind, setKind] = useState<"own" | "app">("own");
  const [step, setStep] = useState<"loading" | "open" | "connecting">();
  const [problem, setProblem] = useState<ReactNode>();
  const stop = (why: ReactNode) => {
    setProblem(why);
    setStep(undefined);
  };
  const run = async () => {
    setProblem(undefined);
    setStep("loading");
    const facebook = await loadSDK(dialog.app_id!, dialog.version!, language).catch(() => undefined);
    if (!facebook) return stop(<Blocked />);
    setStep("open");
    const end = await signIn(facebook, dialog.config_id!, kind === "app");
    if (end.kind !== "finished") return stop(<Ended end={end} />);
    setStep("connecting"); // the code is valid for 30 seconds
    try {
      const made = await signUp({
        authorization_code: end.code,
        waba_id: end.account,
        ...(end.number ? { phone_number_id: end.number } : {}),
      });
      void navigate({
        to: "/senders/$id/connect",
        params: { id: made.id },
        search: { step: "check" },
        reloadDocument: true, // without Facebook's scripts
      });
    } catch (e) {
      stop(<Refused error={e} />);
    }
  };
  return (
    <Card title={t.section}>
      <div className="stack">
        <p className="flat">{t.about}</p>
        {!reachable(base) && (
          <Note tone="warn">
            <p>{l.privateBase}</p>
          </Note>
        )}
        <Radio.Group label={t.kind} value={kind} onChange={(to) => setKind(to)}>
          <div className="stack" style={{ gap: 12, marginTop: 8 }}>
            <Radio value="own" label={t.own} description={t.ownHelp} disabled={Boolean(step)} />
            <Radio value="app" label={t.app} description={t.appHelp} disabled={Boolean(step)} />
          </div>
        </Radio.Group>
        {problem && (
          <div role="alert">
            <Note tone="warn">{problem}</Note>
          </div>
        )}
        <div>
          <Button
            leftSection={<IconBrandFacebook size={18} />}
            loading={Boolean(step)}
            onClick={() => void run()}
            aria-describedby="sign-up-step"
          >
            {t.go}
          </Button>
          {step === "open" && (
            <Button variant="default" ml={8} onClick={() => location.reload()}>
              {s.cancel}
            </Button>
          )}
        </div>
        <p className="small muted flat" id="sign-up-step" role="status">
          {step ? t[step] : t.loads}
        </p>
        <p className="small flat">
          <Link to="/senders/new">{t.byHand}</Link>
        </p>
      </div>
    </Card>
  );
}

/** Blocked says that Facebook's scripts were not loaded, and loads the page again, since its policy may be that of another page. */
function Blocked() {
  const t = useTexts(signUpTexts);
  return (
    <>
      <p>{t.blocked}</p>
      <Button size="compact-sm" variant="default" mt={8} onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </>
  );
}

/** Ended says why a dialog ended without a number. */
function Ended({ end }: { end: Exclude<Outcome, { kind: "finished" }> }) {
  const t = useTexts(signUpTexts);
  if (end.kind !== "failed") return <p>{t[end.kind]}</p>;
  return (
    <p>
      {t.failed} <English>{end.text}</English>
    </p>
  );
}

/** Refused says which step failed after the dialog, and what to do. Nothing is stored then. */
function Refused({ error }: { error: unknown }) {
  const t = useTexts(signUpTexts) as Record<string, string>;
  const detail = (name: string) => (error instanceof Problem ? error.detail(name) : "");
  const step = t["step_" + detail("step")];
  return (
    <>
      <p>
        <b>{step ? fill(t.failedAt!, { step }) : t.failedNow}</b>
      </p>
      <p>{t["refused_" + detail("refusal")] ?? why(error)}</p>
      {error instanceof Problem && (
        <p className="small muted">
          {t.nothing} {requestOf(error)}
        </p>
      )}
    </>
  );
}
