import { Button, Divider, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import { address, get, Problem, send } from "../../api";
import { fill, useTexts } from "../../i18n";
import { basepath, nextOf } from "../../next";
import { meQuery, queries } from "../../session";
import { Note } from "../../ui/parts";
import { problemText } from "../../ui/problem";
import { Door } from "./Door";
import { linkTexts, texts } from "./texts";

/** SignIn asks for e-mail and password, for a code where the account has a second factor, and goes on to the page that was wanted. */
export function SignIn() {
  const t = useTexts(texts);
  const l = useTexts(linkTexts);
  const { next, sso } = useSearch({ from: "/sign-in" });
  const router = useRouter();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>(sso ? l[sso] : "");
  const [held, setHeld] = useState<{ email: string; password: string } | null>(null); // credentials that were right, until the code comes
  const password = useRef<HTMLInputElement>(null);
  const code = useRef<HTMLInputElement>(null);
  const setup = useQuery({ queryKey: ["setup"], queryFn: () => get("/session/setup") });
  useEffect(() => {
    if (setup.data?.first) void navigate({ to: "/set-up", replace: true });
  }, [setup.data, navigate]);

  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    const text = (name: string) => form.get(name) as string;
    const given = held ?? { email: text("email"), password: text("password") };
    setBusy(true);
    setProblem("");
    try {
      const me = await send("post", "/session", { body: held ? { ...given, code: text("code") } : given });
      queries.clear();
      queries.setQueryData(meQuery.queryKey, me);
      router.history.replace(basepath + nextOf(next));
    } catch (x) {
      setBusy(false);
      const reason = x instanceof Problem && x.status === 401 ? x.word : "";
      if (reason === "code_required") {
        setHeld(given);
        return;
      }
      setProblem(
        reason === "code_invalid"
          ? l.codeWrong
          : reason
            ? t.wrong
            : x instanceof Problem && x.status === 429
              ? fill(t.limited, { n: x.retryAfter || 60 })
              : problemText(x),
      );
      if (reason && reason !== "code_invalid") setHeld(null);
      (held ? code : password).current?.select();
    }
  };
  if (held) {
    return (
      <Door title={t.signIn} about={l.codeAbout}>
        <form onSubmit={(e) => void submit(e)} key="code">
          {problem && (
            <Note tone="danger">
              <p>{problem}</p>
            </Note>
          )}
          <TextInput
            label={l.code}
            name="code"
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={32}
            required
            withAsterisk={false}
            autoFocus
            ref={code}
          />
          <Button type="submit" loading={busy} fullWidth>
            {l.confirm}
          </Button>
          <button
            type="button"
            className="quiet-button door-link"
            onClick={() => {
              setHeld(null);
              setProblem("");
            }}
          >
            {l.otherAccount}
          </button>
        </form>
      </Door>
    );
  }
  return (
    <Door title={t.signIn} about={t.about}>
      <form onSubmit={(e) => void submit(e)} key="password">
        {problem && (
          <Note tone="danger">
            <p>{problem}</p>
          </Note>
        )}
        <TextInput
          label={t.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus
        />
        <PasswordInput
          label={t.password}
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          ref={password}
          visibilityToggleButtonProps={{ "aria-label": t.show }}
        />
        <Button type="submit" loading={busy} fullWidth>
          {t.signIn}
        </Button>
        {setup.data?.sso && (
          <>
            <Divider label={l.or} />
            <Button variant="default" component="a" href={address("/sso", { next: nextOf(next) })} fullWidth>
              {fill(l.withSSO, { name: setup.data.sso })}
            </Button>
          </>
        )}
        {setup.data?.mail && (
          <Link to="/forgotten" className="door-link">
            {l.forgot}
          </Link>
        )}
      </form>
    </Door>
  );
}
