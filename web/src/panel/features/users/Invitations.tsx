import { Modal } from "@mantine/core";
import { IconSend, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, get, post } from "../../api";
import { currentLanguage, fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { roles, type Role } from "../session/types";
import { Ago } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { More } from "../../ui/More";
import { Tag } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
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
    const sent = await post(`/invitations/${x.id}/resend`, { language: currentLanguage() });
    if (sent.link) {
      setMade({ who: x.email, link: sent.link, problem: sent.problem });
      setShown(true);
    } else succeeded(fill(i.sent, { email: x.email }));
    await again();
  };
  const withdraw = async (x: Invitation) => {
    await del(`/invitations/${x.id}`);
    succeeded(i.withdrawn);
    await again();
  };
  const columns: Column<Invitation>[] = [
    {
      id: "email",
      label: t.email,
      fixed: true,
      by: (x) => x.email,
      cell: (x) => (
        <>
          <span className="cut" title={x.email}>
            {x.email}
          </span>
          {x.expired ? <Tag tone="warn">{i.expired}</Tag> : !x.sent_at && <Tag>{i.byLink}</Tag>}
        </>
      ),
    },
    { id: "role", label: t.role, width: 130, by: (x) => roles.indexOf(x.role), cell: (x) => s[x.role] },
    {
      id: "invited",
      label: i.invited,
      width: "28%",
      from: "tablet",
      by: (x) => x.created_at,
      cell: (x) => (
        <>
          <Ago at={x.created_at} />{" "}
          {x.invited_by && <span className="small muted">{fill(i.by, { name: x.invited_by })}</span>}
        </>
      ),
    },
  ];
  return (
    <>
      {!!list.data?.length && (
        <Listed
          label={i.open}
          title={i.open}
          query={list}
          rows={list.data}
          columns={columns}
          id={(x) => x.id}
          name={(x) => x.email}
          tools={
            can("users:write")
              ? (x) =>
                  mayChange(company.role, x.role) && (
                    <More
                      of={x.email}
                      acts={[
                        { label: i.resend, icon: <IconSend size={16} />, run: () => resend(x) },
                        {
                          label: i.withdraw,
                          icon: <IconTrash size={16} />,
                          danger: true,
                          ask: { title: fill(i.withdrawTitle, { email: x.email }), text: i.withdrawText },
                          run: () => withdraw(x),
                        },
                      ]}
                    />
                  )
              : undefined
          }
          empty={null}
        />
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
