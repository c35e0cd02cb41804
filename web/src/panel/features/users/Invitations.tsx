import { ActionIcon, Menu, Modal } from "@mantine/core";
import { IconDots, IconSend, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, get, post } from "../../api";
import { currentLanguage, fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import type { Role } from "../session/types";
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { Card, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { inviteTexts, texts } from "./texts";
import { Link, type Linked } from "./Link";
import { mayChange } from "./UsersPage";

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  invited_by: string;
  created_at: string;
  sent_at: string | null;
  expires_at: string;
  expired: boolean;
  link?: string;
  problem?: string;
}

/** Invitations is who is invited and has not come yet; nothing where nobody is. */
export function Invitations() {
  const t = useTexts(texts);
  const i = useTexts(inviteTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const can = useCan();
  const client = useQueryClient();
  const [made, setMade] = useState<Linked | null>(null);
  const [shown, setShown] = useState(false);
  const list = useQuery({
    queryKey: [company.id, "invitations"],
    queryFn: ({ signal }) => get("/invitations", {}, signal).then((x) => x.data),
  });
  const again = () => client.invalidateQueries({ queryKey: [company.id, "invitations"] });
  const resend = async (x: Invitation) => {
    try {
      const sent = await post(`/invitations/${x.id}/resend`, { language: currentLanguage() });
      if (sent.link) {
        setMade({ who: x.email, link: sent.link, problem: sent.problem });
        setShown(true);
      } else succeeded(fill(i.sent, { email: x.email }));
      await again();
    } catch (e) {
      failed(e);
    }
  };
  const withdraw = async (x: Invitation) => {
    if (
      !(await confirm({
        title: fill(i.withdrawTitle, { email: x.email }),
        text: i.withdrawText,
        action: i.withdraw,
        danger: true,
      }))
    )
      return;
    try {
      await del(`/invitations/${x.id}`);
      succeeded(i.withdrawn);
      await again();
    } catch (e) {
      failed(e);
    }
  };
  return (
    <>
      {!!list.data?.length && (
        <Card flush title={i.open}>
          <div className="table-wrap">
            <table className="table">
              <thead>
                <tr>
                  <th>{t.email}</th>
                  <th>{t.role}</th>
                  <th className="wide-only">{i.invited}</th>
                  <th>
                    <span className="hidden">{fill(t.actions, { name: "" })}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list.data.map((x) => (
                  <tr key={x.id}>
                    <td>
                      <div className="row-title">
                        {x.email} {x.expired ? <Tag tone="warn">{i.expired}</Tag> : !x.sent_at && <Tag>{i.byLink}</Tag>}
                      </div>
                      {x.invited_by && <div className="small muted">{fill(i.by, { name: x.invited_by })}</div>}
                    </td>
                    <td>{s[x.role]}</td>
                    <td className="wide-only">
                      <Ago at={x.created_at} />
                    </td>
                    <td>
                      {can("users:write") && mayChange(company.role, x.role) && (
                        <Menu position="bottom-end" width={220}>
                          <Menu.Target>
                            <ActionIcon variant="subtle" color="gray" aria-label={fill(t.actions, { name: x.email })}>
                              <IconDots size={17} />
                            </ActionIcon>
                          </Menu.Target>
                          <Menu.Dropdown>
                            <Menu.Item leftSection={<IconSend size={16} />} onClick={() => void resend(x)}>
                              {i.resend}
                            </Menu.Item>
                            <Menu.Item
                              color="red"
                              leftSection={<IconTrash size={16} />}
                              onClick={() => void withdraw(x)}
                            >
                              {i.withdraw}
                            </Menu.Item>
                          </Menu.Dropdown>
                        </Menu>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      )}
      <Modal
        opened={shown}
        onClose={() => setShown(false)}
        title={i.inviteTitle}
        closeOnClickOutside={false}
        closeOnEscape={false}
        closeButtonProps={{ "aria-label": s.close }}
        size={500}
      >
        {made && <Link made={made} about={i.linkAbout} close={() => setShown(false)} />}
      </Modal>
    </>
  );
}
