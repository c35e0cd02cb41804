import { Button, Group, Modal, Stack } from "@mantine/core";
import { IconLock, IconPlus, IconRefresh, IconTrash } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago, agoWidth } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { More } from "../../ui/More";
import { Empty, Page } from "../../ui/parts";
import { succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { SetSecret } from "./SetSecret";
import { texts } from "./texts";
import { useSecretChanges, useSecrets, type Secret } from "./useSecrets";

export function SecretsPage() {
  return (
    <Needs permission="secrets:read">
      <Secrets />
    </Needs>
  );
}

function Secrets() {
  const t = useTexts(texts);
  const can = useCan()("secrets:write");
  const [adding, setAdding] = useState(false);
  const list = useSecrets();
  const create = (text: string) =>
    can && (
      <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
        {text}
      </Button>
    );
  const columns: Column<Secret>[] = [
    {
      id: "name",
      label: t.secret,
      fixed: true,
      by: (x) => x.name,
      cell: (x) => (
        <code className="cut" title={x.name}>
          {x.name}
        </code>
      ),
    },
    {
      id: "hosts",
      label: t.hosts,
      width: "24%",
      from: "tablet",
      by: (x) => x.hosts.join(", "),
      cell: (x) => <span title={x.hosts.join(", ")}>{x.hosts.join(", ")}</span>,
    },
    {
      id: "set",
      label: t.set,
      width: "20%",
      from: "tablet",
      by: (x) => x.set_at ?? "",
      cell: (x) => (
        <>
          <Ago at={x.set_at} />{" "}
          {x.set_by && <span className="small muted">{fill(t.by, { name: byOf(x.set_by, t) })}</span>}
        </>
      ),
    },
    {
      id: "used",
      label: t.used,
      width: agoWidth,
      by: (x) => x.used_at ?? "",
      cell: (x) => <Ago at={x.used_at} none={t.never} />,
    },
    { id: "users", label: t.users, width: "18%", from: "tablet", cell: (x) => <Users secret={x} /> },
  ];
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create(t.create) : null}>
      <Listed
        label={t.title}
        query={list}
        rows={list.data ?? []}
        columns={columns}
        id={(x) => x.name}
        name={(x) => x.name}
        under={(x) => x.hosts.join(", ")}
        tools={can ? (x) => <Tools secret={x} /> : undefined}
        empty={
          <Empty icon={<IconLock size={22} />} title={t.empty} text={t.emptyText}>
            {create(t.first)}
          </Empty>
        }
      />
      <SetSecret opened={adding} close={() => setAdding(false)} />
    </Page>
  );
}

/** byOf is who set a secret: a person, or what did it by itself. */
function byOf(by: string, t: { setup: string; command: string; system: string }): string {
  return by === "setup" || by === "command" || by === "system" ? t[by] : by;
}

/** Tools are what can be done with a secret. One that flows use is not deleted. */
function Tools({ secret: x }: { secret: Secret }) {
  const t = useTexts(texts);
  const { remove } = useSecretChanges();
  const [open, setOpen] = useState<"" | "replace" | "used">("");
  const close = () => setOpen("");
  const used = x.flows.length > 0;
  return (
    <>
      <More
        of={x.name}
        acts={[
          { label: t.replace, icon: <IconRefresh size={16} />, run: () => setOpen("replace") },
          {
            label: t.remove,
            icon: <IconTrash size={16} />,
            danger: true,
            ask: used ? undefined : { title: fill(t.removeTitle, { name: x.name }), text: t.removeText },
            run: async () => {
              if (used) return setOpen("used");
              await remove(x.name);
              succeeded(t.removed);
            },
          },
        ]}
      />
      <SetSecret opened={open === "replace"} close={close} secret={x} />
      <InUse secret={x} opened={open === "used"} close={close} />
    </>
  );
}

function Users({ secret: x }: { secret: Secret }) {
  const t = useTexts(texts);
  if (x.flows.length === 0) return <span className="muted">{t.nobody}</span>;
  return (
    <div className="tags">
      {x.flows.map((f) => (
        <Link key={f.id} to="/flows/$id" params={{ id: f.id }}>
          {f.name}
        </Link>
      ))}
    </div>
  );
}

/** InUse says why a secret is not deleted. */
function InUse({ secret: x, opened, close }: { secret: Secret; opened: boolean; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={fill(t.inUseTitle, { name: x.name })}
      closeButtonProps={{ "aria-label": s.close }}
      size={460}
    >
      <Stack>
        <p style={{ margin: 0 }}>{t.inUseText}</p>
        <Users secret={x} />
        <Group justify="flex-end">
          <Button data-autofocus onClick={close}>
            {t.understood}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
