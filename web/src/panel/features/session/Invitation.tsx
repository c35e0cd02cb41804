import { Button, PasswordInput, Skeleton, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Problem, send } from "../../api";
import { currentLanguage, fill, useTexts } from "../../i18n";
import { basepath } from "../../next";
import { meQuery, queries } from "../../session";
import type { Me, Role } from "./types";
import { Note } from "../../ui/parts";
import { fieldErrors, problemText } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Door } from "./Door";
import { forgetToken, linkToken } from "./link";
import { linkTexts, texts } from "./texts";

interface Invited {
  email: string;
  role: Role;
  company: string;
  invited_by: string;
  known: boolean;
}

/** Invitation is the page that the link of an invitation leads to. */
export function Invitation() {
  const t = useTexts(texts);
  const l = useTexts(linkTexts);
  const [token] = useState(() => linkToken("invitation"));
  const look = useQuery({
    queryKey: ["invitation", token],
    retry: false,
    staleTime: Infinity,
    queryFn: () => send("post", "/invitation", { body: { token }, link: true }),
  });
  if (look.isPending)
    return (
      <Door title={l.invitation} about="">
        <Skeleton height={120} mt={24} />
      </Door>
    );
  if (look.isError) {
    const late = look.error instanceof Problem && look.error.status === 401;
    const reason = look.error instanceof Problem ? look.error.word : "";
    return (
      <Door
        title={l.invitation}
        about={
          reason === "unproved"
            ? l.inviteUnproved
            : late
              ? reason === "expired"
                ? l.inviteLate
                : l.inviteBad
              : problemText(look.error)
        }
      >
        <form onSubmit={(e) => e.preventDefault()}>
          {late ? (
            <Button component={Link} to="/sign-in">
              {t.toSignIn}
            </Button>
          ) : (
            <Button onClick={() => void look.refetch()}>{l.again}</Button>
          )}
        </form>
      </Door>
    );
  }
  return look.data.known ? <Known token={token} invited={look.data} /> : <Fresh token={token} invited={look.data} />;
}

/** useJoin goes into the panel with the session that has become a member. */
function useJoin() {
  const router = useRouter();
  return (me: Me, company: string) => {
    forgetToken("invitation");
    queries.clear();
    queries.setQueryData(meQuery.queryKey, me);
    const joined = me.companies.find((c) => c.name === company);
    router.history.replace(basepath + (me.companies.length > 1 && joined ? "/?company=" + joined.id : "/"));
  };
}

function Fresh({ token, invited }: { token: string; invited: Invited }) {
  const t = useTexts(texts);
  const l = useTexts(linkTexts);
  const s = useTexts(shared);
  const join = useJoin();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>("");
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { name: "", password: "" },
    validate: { name: (v) => (v.trim() ? null : s.required), password: (v) => ([...v].length >= 12 ? null : t.short) },
  });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    setProblem("");
    try {
      join(await send("post", "/invitation/accept", { body: { token, ...v }, link: true }), invited.company);
    } catch (e) {
      if (!fieldErrors(e, form)) setProblem(e instanceof Problem && e.status === 401 ? l.inviteBad : problemText(e));
      setBusy(false);
    }
  };
  return (
    <Door
      title={fill(l.joinTitle, { company: invited.company })}
      about={fill(l.joinAbout, { name: invited.invited_by || invited.company, role: s[invited.role] })}
    >
      <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
        {problem && (
          <Note tone="danger">
            <p>{problem}</p>
          </Note>
        )}
        <TextInput label={t.email} value={invited.email} readOnly autoComplete="username" />
        <TextInput
          label={t.name}
          key={form.key("name")}
          {...form.getInputProps("name")}
          autoComplete="name"
          autoFocus
          maxLength={100}
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
          {l.join}
        </Button>
      </form>
    </Door>
  );
}

/** Known is for who has an account with the e-mail: they accept as who they are signed in as. */
function Known({ token, invited }: { token: string; invited: Invited }) {
  const l = useTexts(linkTexts);
  const s = useTexts(shared);
  const join = useJoin();
  const me = useQuery(meQuery);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>("");
  const mine = me.data?.account.email.toLowerCase() === invited.email.toLowerCase();
  const accept = async () => {
    setBusy(true);
    try {
      join(await send("post", "/invitation/accept", { body: { token }, link: true }), invited.company);
    } catch (e) {
      setProblem(e instanceof Problem && e.status === 401 ? l.inviteBad : problemText(e));
      void queries.invalidateQueries(meQuery); // the session may be over
      setBusy(false);
    }
  };
  return (
    <Door
      title={fill(l.joinTitle, { company: invited.company })}
      about={fill(l.joinAbout, { name: invited.invited_by || invited.company, role: s[invited.role] })}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void accept();
        }}
      >
        {problem && (
          <Note tone="danger">
            <p>{problem}</p>
          </Note>
        )}
        <p className="muted" style={{ margin: 0 }} lang={currentLanguage()}>
          {fill(mine ? l.knownSelf : me.data ? l.knownOther : l.knownNobody, {
            email: invited.email,
            own: me.data?.account.email ?? "",
          })}
        </p>
        {mine ? (
          <Button type="submit" loading={busy} fullWidth>
            {l.accept}
          </Button>
        ) : (
          <Button fullWidth renderRoot={(props) => <Link to="/sign-in" search={{ next: "/invitation" }} {...props} />}>
            {l.signInAs}
          </Button>
        )}
      </form>
    </Door>
  );
}
