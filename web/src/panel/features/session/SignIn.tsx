import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { get, Problem, send } from "../../api";
import { fill, useTexts } from "../../i18n";
import { basepath } from "../../router";
import { nextOf } from "../../next";
import { meQuery, queries } from "../../session";
import type { Me } from "../../types";
import { Note } from "../../ui/parts";
import { problemText } from "../../ui/problem";
import { Door } from "./Door";
import { texts } from "./texts";

/** SignIn asks for e-mail and password, and goes on to the page that was wanted. */
export function SignIn() {
  const t = useTexts(texts);
  const { next } = useSearch({ from: "/sign-in" });
  const router = useRouter();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const password = useRef<HTMLInputElement>(null);
  const setup = useQuery({ queryKey: ["setup"], queryFn: () => get<{ first: boolean }>("/session/setup") });
  useEffect(() => { if (setup.data?.first) void navigate({ to: "/set-up", replace: true }); }, [setup.data, navigate]);

  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    setBusy(true);
    setProblem("");
    try {
      const me = await send<Me>("POST", "/session", { body: { email: form.get("email"), password: form.get("password") } });
      queries.clear();
      queries.setQueryData(meQuery.queryKey, me);
      router.history.replace(basepath + nextOf(next));
    } catch (x) {
      setProblem(x instanceof Problem && x.status === 401 ? t.wrong : x instanceof Problem && x.status === 429 ? fill(t.limited, { n: x.retryAfter || 60 }) : problemText(x));
      setBusy(false);
      password.current?.select();
    }
  };
  return (
    <Door title={t.signIn} about={t.about}>
      <form onSubmit={(e) => void submit(e)}>
        {problem && <Note tone="danger"><p>{problem}</p></Note>}
        <TextInput label={t.email} name="email" type="email" autoComplete="username" required withAsterisk={false} autoFocus />
        <PasswordInput label={t.password} name="password" autoComplete="current-password" required withAsterisk={false} ref={password}
          visibilityToggleButtonProps={{ "aria-label": t.show }} />
        <Button type="submit" loading={busy} fullWidth>{t.signIn}</Button>
      </form>
    </Door>
  );
}
