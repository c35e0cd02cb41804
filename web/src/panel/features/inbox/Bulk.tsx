// What stands above the list: its order and, while conversations are being selected, what is done with them.
import { ActionIcon, Button, Menu, Popover, TextInput, UnstyledButton } from "@mantine/core";
import {
  IconArrowsSort,
  IconCheck,
  IconChevronDown,
  IconListCheck,
  IconTag,
  IconUserPlus,
  IconX,
} from "@tabler/icons-react";
import { useState, type FormEvent } from "react";
import { fill } from "../../i18n";
import { undoable } from "../../ui/undo";
import { failed } from "../../ui/problem";
import type { Order } from "./model";
import type { Refusal, Snapshot } from "./snapshot";
import type { Inbox } from "./store";
import type { InboxTexts } from "./texts";
import type { Folder, Listed } from "./types";

interface BarProps {
  t: InboxTexts;
  folder: Folder;
  order: Order;
  setOrder(to: Order): void;
  /** Begins to select conversations; undefined where there are none. */
  select?: () => void;
}

export function ListBar({ t, folder, order, setOrder, select }: BarProps) {
  const names: Record<Order, string> = { newest: t.newest, oldest: folder === "unassigned" ? t.longest : t.oldest };
  const orders: Order[] = folder === "unassigned" ? ["oldest", "newest"] : ["newest", "oldest"];
  return (
    <div className="inbox-bar">
      <Menu position="bottom-start">
        <Menu.Target>
          <UnstyledButton className="inbox-order" aria-label={`${t.order}: ${names[order]}`}>
            <IconArrowsSort size={14} aria-hidden />
            <span className="cut">{names[order]}</span>
            <IconChevronDown size={14} aria-hidden />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {orders.map((o) => (
            <Menu.Item
              key={o}
              aria-current={o === order ? "true" : undefined}
              rightSection={o === order ? <IconCheck size={14} aria-hidden /> : undefined}
              onClick={() => setOrder(o)}
            >
              {names[o]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {select && (
        <UnstyledButton className="inbox-order" onClick={select}>
          <IconListCheck size={15} aria-hidden />
          <span className="cut">{t.select}</span>
        </UnstyledButton>
      )}
    </div>
  );
}

interface Props {
  inbox: Inbox;
  state: Snapshot;
  t: InboxTexts;
  chosen: Listed[];
  select(all: Listed[]): void;
  leave(): void;
}

type Outcome = { done: Listed[]; refusal?: Refusal };

/** Bulk changes the selected conversations; what it did can be undone. */
export function Bulk({ inbox, state, t, chosen, select, leave }: Props) {
  const [busy, setBusy] = useState(false);
  const [tagging, setTagging] = useState(false);
  const [tag, setTag] = useState("");
  const none = chosen.length === 0;
  const all = state.list.length > 0 && chosen.length === state.list.length;
  const run = async (
    change: () => Promise<Outcome>,
    text: { one: string; many: string },
    undo: (done: Listed[]) => Promise<Outcome>,
  ) => {
    setBusy(true);
    const { done, refusal } = await change();
    setBusy(false);
    if (refusal) failed(refusal);
    if (done.length === 0) return;
    undoable(fill(done.length === 1 ? text.one : text.many, { n: done.length }), async () => {
      const back = await undo(done);
      if (back.refusal) throw back.refusal as Error;
    });
    leave();
  };
  const assign = (account: string) =>
    void run(
      () => inbox.assignAll(chosen, account),
      { one: t.didAssignOne, many: t.didAssign },
      (done) => inbox.undoAll(done),
    );
  const addTag = (e: FormEvent) => {
    e.preventDefault();
    const text = tag.trim();
    if (!text) return;
    setTagging(false);
    setTag("");
    void run(
      () => inbox.tagAll(chosen, text),
      { one: t.didTagOne, many: t.didTag },
      (done) => inbox.tagAll(done),
    );
  };
  return (
    <div className="inbox-bar inbox-bulk" role="toolbar" aria-label={t.selection}>
      <div className="inbox-bulk-top">
        <b aria-live="polite">{fill(t.selected, { n: chosen.length })}</b>
        <UnstyledButton className="inbox-order" onClick={() => select(all ? [] : state.list)}>
          {all ? t.selectNone : t.selectAll}
        </UnstyledButton>
        <ActionIcon variant="subtle" color="gray" aria-label={t.endSelection} onClick={leave}>
          <IconX size={16} />
        </ActionIcon>
      </div>
      <div className="inbox-bulk-actions">
        <Menu position="bottom-start" disabled={none || busy}>
          <Menu.Target>
            <Button
              size="compact-sm"
              variant="default"
              disabled={none}
              loading={busy}
              leftSection={<IconUserPlus size={14} />}
            >
              {t.assign}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => assign(inbox.me)}>{t.me}</Menu.Item>
            {state.teammates
              .filter((x) => x.account_id !== inbox.me)
              .map((x) => (
                <Menu.Item key={x.account_id} onClick={() => assign(x.account_id)}>
                  {x.name}
                </Menu.Item>
              ))}
          </Menu.Dropdown>
        </Menu>
        <Button
          size="compact-sm"
          variant="default"
          disabled={none || state.view.closed}
          loading={busy}
          leftSection={<IconCheck size={14} />}
          onClick={() =>
            void run(
              () => inbox.resolveAll(chosen),
              { one: t.didResolve, many: t.didResolveMany },
              (done) => inbox.undoAll(done),
            )
          }
        >
          {t.resolve}
        </Button>
        <Popover opened={tagging} onChange={setTagging} trapFocus returnFocus position="bottom-start">
          <Popover.Target>
            <Button
              size="compact-sm"
              variant="default"
              disabled={none}
              loading={busy}
              leftSection={<IconTag size={14} />}
              onClick={() => setTagging((on) => !on)}
            >
              {t.tag}
            </Button>
          </Popover.Target>
          <Popover.Dropdown aria-label={t.addTag}>
            <form onSubmit={addTag} className="inbox-bulk-tag">
              <TextInput
                size="xs"
                aria-label={t.tag}
                value={tag}
                maxLength={40}
                onChange={(e) => setTag(e.currentTarget.value)}
                data-autofocus
              />
              <Button size="xs" type="submit" disabled={!tag.trim()}>
                {t.addTag}
              </Button>
            </form>
          </Popover.Dropdown>
        </Popover>
      </div>
    </div>
  );
}
