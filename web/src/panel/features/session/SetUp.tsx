import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { get, Problem, send } from "../../api";
import { useTexts } from "../../i18n";
import { basepath } from "../../next";
import { meQuery, queries } from "../../session";
import { Note } from "../../ui/parts";
import { fieldErrors, problemText } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Door } from "./Door";
import { texts } from "./texts";

/** SetUp makes the first company and its owner. */
export function SetUp() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const router = useRouter();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>("");
  const setup = useQuery({ queryKey: ["setup"], queryFn: () => get("/session/setup") });
  const need = (v: string) => (v.trim() ? null : s.required);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { token: "", company: "", name: "", email: "", password: "" },
    validate: {
      token: need,
      company: need,
      name: need,
      email: (v) => (/^\S+@\S+$/.test(v.trim()) ? null : t.emailBad),
      password: (v) => ([...v].length >= 12 ? null : t.short),
    },
  });
  const submit = async ({ token, ...owner }: typeof form.values) => {
    setBusy(true);
    setProblem("");
    try {
      await send("post", "/users", {
        bearer: token.trim(),
        body: { ...owner, email: owner.email.trim(), first: true },
      });
      const me = await send("post", "/session", { body: { email: owner.email.trim(), password: owner.password } });
      queries.clear();
      queries.setQueryData(meQuery.queryKey, me);
      router.history.replace(basepath + "/");
    } catch (e) {
      if (e instanceof Problem && e.status === 401) form.setFieldError("token", t.tokenBad);
      else if (!fieldErrors(e, form)) setProblem(problemText(e));
      setBusy(false);
    }
  };
  if (setup.data && !setup.data.first) {
    return (
      <Door title={t.setUp} about={t.already}>
        <form onSubmit={(e) => e.preventDefault()}>
          <Button component={Link} to="/sign-in">
            {t.toSignIn}
          </Button>
        </form>
      </Door>
    );
  }
  return (
    <Door title={t.setUp} about={t.setUpAbout}>
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        {problem && (
          <Note tone="danger">
            <p>{problem}</p>
          </Note>
        )}
        <TextInput
          label={t.token}
          description={t.tokenHelp}
          key={form.key("token")}
          {...form.getInputProps("token")}
          autoComplete="off"
          spellCheck={false}
          autoFocus
        />
        <TextInput
          label={t.company}
          key={form.key("company")}
          {...form.getInputProps("company")}
          autoComplete="organization"
        />
        <TextInput label={t.name} key={form.key("name")} {...form.getInputProps("name")} autoComplete="name" />
        <TextInput
          label={t.email}
          type="email"
          key={form.key("email")}
          {...form.getInputProps("email")}
          autoComplete="username"
        />
        <PasswordInput
          label={t.newPassword}
          description={t.newHelp}
          key={form.key("password")}
          {...form.getInputProps("password")}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": t.show }}
        />
        <Button type="submit" loading={busy} fullWidth>
          {t.make}
        </Button>
      </form>
    </Door>
  );
}
