import { ActionIcon, Button, Menu, Modal } from "@mantine/core";
import {
  IconDots,
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
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { Card, Failed, Page, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
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
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        mine && (
          <>
            <Button variant="default" onClick={() => setAdding(true)}>
              {i.addByHand}
            </Button>
            <Button leftSection={<IconPlus size={16} />} onClick={() => setInviting(true)}>
              {i.invite}
            </Button>
          </>
        )
      }
    >
      {list.isPending ? (
        <Rows />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <div className="stack">
          <Card flush label={t.title}>
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.name}</th>
                    <th>{t.role}</th>
                    <th className="wide-only">{t.lastSignIn}</th>
                    <th>
                      <span className="hidden">{fill(t.actions, { name: "" })}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {list.data.map((u) => (
                    <tr key={u.id}>
                      <td>
                        <div style={{ display: "flex", alignItems: "center", gap: 12 }}>
                          <span className="mark quiet" aria-hidden="true">
                            {initials(u.name || u.email)}
                          </span>
                          <div>
                            <div className="row-title">
                              {u.name || u.email} {u.id === me.account.id && <Tag>{t.you}</Tag>}{" "}
                              {u.second_factor && <Tag tone="ok">{i.hasFactor}</Tag>}
                            </div>
                            {u.name && <div className="small muted">{u.email}</div>}
                          </div>
                        </div>
                      </td>
                      <td>{s[u.role]}</td>
                      <td className="wide-only">
                        <Ago at={u.last_sign_in_at} />
                      </td>
                      <td>
                        {mine && u.id !== me.account.id && mayChange(company.role, u.role) && (
                          <Actions
                            u={u}
                            change={() => setChanging(u)}
                            reset={() => setResetting(u)}
                            show={(x) => {
                              setMade(x);
                              setShown(true);
                            }}
                          />
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </Card>
          <Invitations />
        </div>
      )}
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

function Actions({
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
  const name = u.name || u.email;
  const after = async (what: Promise<void>, text: string) => {
    try {
      await what;
      succeeded(text);
      await client.invalidateQueries({ queryKey: [company.id, "users"] });
    } catch (e) {
      failed(e);
    }
  };
  const signOut = async () => {
    if (await confirm({ title: fill(t.signOutTitle, { name }), text: t.signOutText, action: t.signOut, danger: true }))
      await after(del(`/users/${u.id}/sessions`), t.signedOut);
  };
  const link = async () => {
    try {
      const x = await post(`/users/${u.id}/password-link`, { language: currentLanguage() });
      if (x.link) show({ who: name, link: x.link, problem: x.problem });
      else succeeded(fill(i.linkSent, { name }));
    } catch (e) {
      failed(e);
    }
  };
  const factorOff = async () => {
    if (await confirm({ title: fill(i.factorTitle, { name }), text: i.factorText, action: i.factor, danger: true }))
      await after(del(`/users/${u.id}/second-factor`), i.factorOff);
  };
  const remove = async () => {
    if (
      await confirm({
        title: fill(t.removeTitle, { name, company: company.name }),
        text: fill(t.removeText, { name }),
        action: t.remove,
        danger: true,
      })
    ) {
      await after(del(`/users/${u.id}`), fill(t.removed, { name }));
    }
  };
  return (
    <Menu position="bottom-end" width={290}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={fill(t.actions, { name })}>
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconUserCog size={16} />} onClick={change}>
          {t.changeRole}
        </Menu.Item>
        <Menu.Item leftSection={<IconLink size={16} />} onClick={() => void link()}>
          {i.link}
        </Menu.Item>
        <Menu.Item leftSection={<IconPassword size={16} />} onClick={reset}>
          {t.reset}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {t.signOut}
        </Menu.Item>
        {u.second_factor && (
          <Menu.Item leftSection={<IconShieldOff size={16} />} onClick={() => void factorOff()}>
            {i.factor}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<IconUserMinus size={16} />} onClick={() => void remove()}>
          {t.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
