import { Button, Modal } from "@mantine/core";
import {
  IconLink,
  IconLogout,
  IconPassword,
  IconPlus,
  IconShieldOff,
  IconUserMinus,
  IconUserCog,
} from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, everything, post } from "../../api";
import { initials } from "../../format";
import { currentLanguage, fill, useTexts } from "../../i18n";
import { useCan, useCompany, useMe } from "../../session";
import { Needs } from "../../shell/states";
import { roles, type Role } from "../session/types";
import { type User } from "./types";
import { Ago, agoWidth } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { More } from "../../ui/More";
import { Page, Tag } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { AddUser } from "./AddUser";
import { ChangeRole } from "./ChangeRole";
import { Invitations } from "./Invitations";
import { InviteUser } from "./InviteUser";
import { inviteTexts, texts } from "./texts";
import { Link, type Linked } from "./Link";
import { SetPassword } from "./SetPassword";

export function UsersPage() {
  return (
    <Needs permission="users:read">
      <Users />
    </Needs>
  );
}

function Users() {
  const t = useTexts(texts);
  const i = useTexts(inviteTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const can = useCan();
  const me = useMe();
  const [adding, setAdding] = useState(false);
  const [inviting, setInviting] = useState(false);
  const [made, setMade] = useState<Linked | null>(null);
  const [shown, setShown] = useState(false);
  const [changing, setChanging] = useState<User | null>(null);
  const [resetting, setResetting] = useState<User | null>(null);
  const list = useQuery({ queryKey: [company.id, "users"], queryFn: ({ signal }) => everything("/users", {}, signal) });
  const mine = can("users:write");
  const columns: Column<User>[] = [
    {
      id: "name",
      label: t.name,
      fixed: true,
      by: nameOf,
      cell: (u) => (
        <>
          <span className="mark quiet" aria-hidden="true">
            {initials(nameOf(u))}
          </span>
          <span className="cut">{nameOf(u)}</span>
          {u.id === me.account.id && <Tag>{t.you}</Tag>}
        </>
      ),
    },
    {
      id: "email",
      label: t.email,
      width: "26%",
      from: "tablet",
      by: (u) => u.email,
      cell: (u) => <span title={u.email}>{u.email}</span>,
    },
    { id: "role", label: t.role, width: 130, by: (u) => roles.indexOf(u.role), cell: (u) => s[u.role] },
    {
      id: "factor",
      label: i.factorColumn,
      width: 150,
      from: "desktop",
      by: (u) => (u.second_factor ? 0 : 1),
      cell: (u) => (u.second_factor ? <Tag tone="ok">{i.hasFactor}</Tag> : <span className="muted">–</span>),
    },
    {
      id: "seen",
      label: t.lastSignIn,
      width: agoWidth,
      from: "tablet",
      by: (u) => u.last_sign_in_at ?? "",
      cell: (u) => <Ago at={u.last_sign_in_at} />,
    },
  ];
  return (
    <Page
      title={t.title}

      actions={
        mine && (
          <>
            <More acts={[{ label: i.addByHand, icon: <IconPassword size={16} />, run: () => setAdding(true) }]} />
            <Button leftSection={<IconPlus size={16} />} onClick={() => setInviting(true)}>
              {i.invite}
            </Button>
          </>
        )
      }
    >
      <div className="stack">
        <Listed
          label={t.title}
          query={list}
          rows={list.data ?? []}
          columns={columns}
          id={(u) => u.id}
          name={nameOf}
          under={(u) => u.email}
          tools={
            mine
              ? (u) =>
                  u.id !== me.account.id &&
                  mayChange(company.role, u.role) && (
                    <Tools
                      u={u}
                      change={() => setChanging(u)}
                      reset={() => setResetting(u)}
                      show={(x) => {
                        setMade(x);
                        setShown(true);
                      }}
                    />
                  )
              : undefined
          }
          empty={null}
        />
        {list.data && <Invitations />}
      </div>
      <InviteUser opened={inviting} close={() => setInviting(false)} />
      <Modal
        opened={shown}
        onClose={() => setShown(false)}
        title={i.linkTitle}
        closeOnClickOutside={false}
        closeOnEscape={false}
        closeButtonProps={{ "aria-label": s.close }}
        size={500}
      >
        {made && <Link made={made} about={i.resetAbout} close={() => setShown(false)} />}
      </Modal>
      <AddUser opened={adding} close={() => setAdding(false)} />
      <ChangeRole user={changing} close={() => setChanging(null)} />
      <SetPassword user={resetting} close={() => setResetting(null)} />
    </Page>
  );
}

/** mayChange reports whether somebody of a role may do something to one of another: nobody above their own. */
export function mayChange(own: Role, other: Role): boolean {
  return roles.indexOf(own) <= roles.indexOf(other);
}

const nameOf = (u: User) => u.name || u.email;

/** Tools are what can be done with a teammate's account. */
function Tools({
  u,
  change,
  reset,
  show,
}: {
  u: User;
  change: () => void;
  reset: () => void;
  show: (made: Linked) => void;
}) {
  const t = useTexts(texts);
  const i = useTexts(inviteTexts);
  const company = useCompany();
  const client = useQueryClient();
  const name = nameOf(u);
  const remove = async (path: "" | "/sessions" | "/second-factor", text: string) => {
    await del(`/users/${u.id}${path}`);
    succeeded(text);
    await client.invalidateQueries({ queryKey: [company.id, "users"] });
  };
  const link = async () => {
    const x = await post(`/users/${u.id}/password-link`, { language: currentLanguage() });
    if (x.link) show({ who: name, link: x.link, problem: x.problem });
    else succeeded(fill(i.linkSent, { name }));
  };
  return (
    <More
      of={name}
      acts={[
        { label: t.changeRole, icon: <IconUserCog size={16} />, run: change },
        { label: i.link, icon: <IconLink size={16} />, run: link },
        { label: t.reset, icon: <IconPassword size={16} />, run: reset },
        {
          label: t.signOut,
          icon: <IconLogout size={16} />,
          danger: true,
          ask: { title: fill(t.signOutTitle, { name }), text: t.signOutText },
          run: () => remove("/sessions", t.signedOut),
        },
        u.second_factor && {
          label: i.factor,
          icon: <IconShieldOff size={16} />,
          danger: true,
          ask: { title: fill(i.factorTitle, { name }), text: i.factorText },
          run: () => remove("/second-factor", i.factorOff),
        },
        {
          label: t.remove,
          icon: <IconUserMinus size={16} />,
          danger: true,
          ask: { title: fill(t.removeTitle, { name, company: company.name }), text: fill(t.removeText, { name }) },
          run: () => remove("", fill(t.removed, { name })),
        },
      ]}
    />
  );
}
