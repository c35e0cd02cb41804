import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Problem, send } from "../../api";
import { currentLanguage, fill, useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import { fieldErrors, problemText } from "../../ui/problem";
import { Door } from "./Door";
import { forgetToken, linkToken } from "./link";
import { linkTexts, texts } from "./texts";

/** Forgotten asks for a link by e-mail, and sets the password of who comes back with one. */
export function Forgotten() {
  const [token, setToken] = useState(() => linkToken("forgotten"));
  return token ? (
    <Fresh
      token={token}
      drop={() => {
        forgetToken("forgotten");
        setToken("");
      }}
    />
  ) : (
    <Ask />
  );
}

function Ask() {
  const t = useTexts(texts);
  const l = useTexts(linkTexts);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>("");
  const [sent, setSent] = useState("");
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { email: "" },
    validate: { email: (v) => (/^\S+@\S+$/.test(v.trim()) ? null : t.emailBad) },
  });
  const submit = async ({ email }: { email: string }) => {
    setBusy(true);
    setProblem("");
    try {
      await send("post", "/forgotten", { body: { email: email.trim(), language: currentLanguage() } });
      setSent(email.trim());
    } catch (e) {
      if (e instanceof Problem && e.status === 409) setProblem(l.noMail);
      else if (e instanceof Problem && e.status === 429) setProblem(fill(t.limited, { n: e.retryAfter || 60 }));
      else if (!fieldErrors(e, form)) setProblem(problemText(e));
    } finally {
      setBusy(false);
    }
  };
  if (sent)
    return (
      <Door title={l.checkMail} about={fill(l.checkMailAbout, { email: sent })}>
        <form onSubmit={(e) => e.preventDefault()}>
          <Button variant="default" component={Link} to="/sign-in">
            {t.toSignIn}
          </Button>
        </form>
      </Door>
    );
  return (
    <Door title={l.forgotten} about={l.forgottenAbout}>
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        {problem && (
          <Note tone="danger">
            <p>{problem}</p>
          </Note>
        )}
        <TextInput
          label={t.email}
          type="email"
          key={form.key("email")}
          {...form.getInputProps("email")}
          autoComplete="username"
          autoFocus
        />
        <Button type="submit" loading={busy} fullWidth>
          {l.sendLink}
        </Button>
        <Link to="/sign-in" className="door-link">
          {t.toSignIn}
        </Link>
      </form>
    </Door>
  );
}

function Fresh({ token, drop }: { token: string; drop: () => void }) {
  const t = useTexts(texts);
  const l = useTexts(linkTexts);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>("");
  const [bad, setBad] = useState(false);
  const [done, setDone] = useState(false);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { password: "" },
    validate: { password: (v) => ([...v].length >= 12 ? null : t.short) },
  });
  const submit = async ({ password }: { password: string }) => {
    setBusy(true);
    setProblem("");
    try {
      await send("post", "/forgotten/password", { body: { token, password }, link: true });
      forgetToken("forgotten");
      setDone(true);
    } catch (e) {
      const late = e instanceof Problem && e.status === 401;
      setBad(late);
      if (late) setProblem(e.word === "expired" ? l.linkLate : l.linkBad);
      else if (!fieldErrors(e, form)) setProblem(problemText(e));
    } finally {
      setBusy(false);
    }
  };
  if (done)
    return (
      <Door title={l.isSet} about={l.isSetAbout}>
        <form onSubmit={(e) => e.preventDefault()}>
          <Button component={Link} to="/sign-in">
            {t.signIn}
          </Button>
        </form>
      </Door>
    );
  return (
    <Door title={l.setNew} about={l.setNewAbout}>
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        {problem && (
          <Note tone="danger">
            <p>{problem}</p>
          </Note>
        )}
        <PasswordInput
          label={t.newPassword}
          description={t.newHelp}
          key={form.key("password")}
          {...form.getInputProps("password")}
          autoComplete="new-password"
          autoFocus
          visibilityToggleButtonProps={{ "aria-label": t.show }}
        />
        {bad ? (
          <Button fullWidth onClick={drop}>
            {l.askAgain}
          </Button>
        ) : (
          <Button type="submit" loading={busy} fullWidth>
            {l.setNew}
          </Button>
        )}
      </form>
    </Door>
  );
}
