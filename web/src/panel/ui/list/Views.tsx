import { ActionIcon, Button, Menu, Modal, Group, Stack, TextInput } from "@mantine/core";
import { IconBookmark, IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { listTexts, shared } from "../texts";
import type { ListMemory, View } from "./memory";

/** Views are filters and columns under a name, to come back to. */
export function Views({
  memory,
  search,
  apply,
}: {
  memory: ListMemory;
  search: Record<string, string | undefined>;
  apply: (search: Record<string, string>) => void;
}) {
  const t = useTexts(listTexts);
  const s = useTexts(shared);
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState("");
  const now = Object.fromEntries(Object.entries(search).filter(([, v]) => v)) as Record<string, string>;
  const order = (x: Record<string, string>) => JSON.stringify(Object.entries(x).sort());
  const same = (v: View) => order(v.search) === order(now);
  const current = memory.views.find(same);
  const close = () => {
    setNaming(false);
    setName("");
  };
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={15} />} aria-label={t.views}>
            <span className="cut">{current?.name ?? t.views}</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {memory.views.length === 0 && <Menu.Label>{t.viewsNone}</Menu.Label>}
          {memory.views.map((v) => (
            <Group key={v.name} gap={0} wrap="nowrap">
              <Menu.Item
                aria-current={v === current ? "true" : undefined}
                onClick={() => {
                  memory.hide(v.hidden);
                  apply(v.search);
                }}
              >
                {v.name}
              </Menu.Item>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={fill(t.viewRemove, { name: v.name })}
                onClick={() => memory.remove(v.name)}
              >
                <IconTrash size={15} />
              </ActionIcon>
            </Group>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconPlus size={15} />} onClick={() => setNaming(true)}>
            {t.viewSave}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={naming} onClose={close} title={t.viewSave} closeButtonProps={{ "aria-label": s.close }}>
        <form
          onSubmit={(e) => {
            e.preventDefault();
            if (!name.trim()) return;
            memory.save({ name: name.trim(), search: now, hidden: memory.hidden });
            close();
          }}
        >
          <Stack>
            <TextInput
              label={t.viewName}
              description={t.viewHelp}
              value={name}
              maxLength={60}
              data-autofocus
              onChange={(e) => setName(e.currentTarget.value)}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              <Button type="submit" disabled={!name.trim()}>
                {s.save}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
