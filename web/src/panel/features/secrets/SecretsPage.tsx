import { Button, Group, Modal, Stack } from "@mantine/core";
import { IconLock, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { Card, Empty, Failed, Page, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
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
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create(t.create) : null}>
      {list.isPending ? (
        <Rows />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Card flush label={t.title}>
          {list.data.length === 0 ? (
            <Empty icon={<IconLock size={22} />} title={t.empty} text={t.emptyText}>
              {create(t.first)}
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.secret}</th>
                    <th className="wide-only">{t.hosts}</th>
                    <th className="wide-only">{t.set}</th>
                    <th>{t.used}</th>
                    <th className="wide-only">{t.users}</th>
                    {can && (
                      <th>
                        <span className="hidden">{t.replace}</span>
                      </th>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {list.data.map((x) => (
                    <Row key={x.name} secret={x} can={can} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
      <SetSecret opened={adding} close={() => setAdding(false)} />
    </Page>
  );
}

/** byOf is who set a secret: a person, or what did it by itself. */
function byOf(by: string, t: { setup: string; command: string; system: string }): string {
  return by === "setup" || by === "command" || by === "system" ? t[by] : by;
}

function Row({ secret: x, can }: { secret: Secret; can: boolean }) {
  const t = useTexts(texts);
  const { remove } = useSecretChanges();
  const [open, setOpen] = useState<"" | "replace" | "used">("");
  const ask = async () => {
    if (x.flows.length > 0) {
      setOpen("used");
      return;
    }
    if (
      !(await confirm({
        title: fill(t.removeTitle, { name: x.name }),
        text: t.removeText,
        action: t.remove,
        danger: true,
      }))
    )
      return;
    try {
      await remove(x.name);
      succeeded(t.removed);
    } catch (e) {
      failed(e);
    }
  };
  const close = () => setOpen("");
  return (
    <tr>
      <td>
        <code className="row-title">{x.name}</code>
      </td>
      <td className="wide-only">
        <div className="tags">
          {x.hosts.map((h) => (
            <Tag key={h}>{h}</Tag>
          ))}
        </div>
      </td>
      <td className="wide-only">
        <Ago at={x.set_at} />{" "}
        {x.set_by && <span className="small muted">{fill(t.by, { name: byOf(x.set_by, t) })}</span>}
      </td>
      <td>
        <Ago at={x.used_at} none={t.never} />
      </td>
      <td className="wide-only">
        <Users secret={x} />
      </td>
      {can && (
        <td className="nowrap">
          <Button variant="subtle" size="compact-sm" onClick={() => setOpen("replace")}>
            {t.replace}
            <span className="hidden"> {x.name}</span>
          </Button>
          <Button variant="subtle" color="red" size="compact-sm" onClick={() => void ask()}>
            {t.remove}
            <span className="hidden"> {x.name}</span>
          </Button>
          <SetSecret opened={open === "replace"} close={close} secret={x} />
          <InUse secret={x} opened={open === "used"} close={close} />
        </td>
      )}
    </tr>
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
