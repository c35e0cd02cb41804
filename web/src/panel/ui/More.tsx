import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useState, type ReactElement, type ReactNode } from "react";
import { fill, useTexts } from "../i18n";
import { confirm } from "./confirm";
import { failed } from "./problem";
import { shared } from "./texts";

/** Act is an entry of a menu of what is seldom done. */
export interface Act {
  label: string;
  icon: ReactNode;
  /** run does it; what it throws is shown. */
  run?: () => unknown;
  /** link is the entry as a link, in place of run. */
  link?: (props: object) => ReactElement;
  /** danger entries take something away: they are red and below the others. One without `ask` asks by itself. */
  danger?: boolean;
  /** ask is the question before it: what is lost. */
  ask?: { title: string; text: ReactNode; action?: string; cancel?: string };
}

/** More is the ⋯ menu of a page's head, or of a row whose name is `of`. */
export function More({ of, acts }: { of?: string; acts: (Act | false | undefined)[] }) {
  const s = useTexts(shared);
  const [busy, setBusy] = useState(false);
  const given = acts.filter((a) => !!a);
  if (given.length === 0) return null;
  const choose = async (a: Act) => {
    if (a.ask && !(await confirm({ action: a.label, ...a.ask, danger: a.danger }))) return;
    setBusy(true);
    try {
      await a.run?.();
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const [mild, sharp] = [given.filter((a) => !a.danger), given.filter((a) => a.danger)];
  const entry = (a: Act) => (
    <Menu.Item
      key={a.label}
      color={a.danger ? "red" : undefined}
      leftSection={a.icon}
      {...(a.link ? { renderRoot: a.link } : { onClick: () => void choose(a) })}
    >
      {a.label}
    </Menu.Item>
  );
  return (
    <Menu position="bottom-end" width="max-content">
      <Menu.Target>
        <ActionIcon
          variant={of === undefined ? "default" : "subtle"}
          color="gray"
          size={of === undefined ? 36 : 28}
          loading={busy}
          aria-label={of === undefined ? s.moreActions : fill(s.actionsFor, { name: of })}
        >
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {mild.map(entry)}
        {mild.length > 0 && sharp.length > 0 && <Menu.Divider />}
        {sharp.map(entry)}
      </Menu.Dropdown>
    </Menu>
  );
}
