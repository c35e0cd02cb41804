import { ActionIcon, Button, Menu, Popover, TextInput } from "@mantine/core";
import { IconFilter, IconX } from "@tabler/icons-react";
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { listTexts } from "../texts";
import { DateRange } from "./DateRange";
import css from "./list.module.css";
import type { Range } from "./range";

/** Filter narrows a list: by one of some values, or by a text. */
export interface Filter {
  id: string;
  label: string;
  value: string | undefined;
  /** shown is the value in words, where it is no option. */
  shown?: string;
  options?: { value: string; label: string; group?: string }[];
  type?: "text" | "tel";
  /** fits reports whether a text can be searched for. */
  fits?: (text: string) => boolean;
  change: (to: string | undefined) => void;
}

/** FilterBar is above a list: search, filters as chips, days, and what else concerns the whole list. */
export function FilterBar({
  search,
  filters,
  range,
  clear,
  narrowed,
  children,
}: {
  search?: ReactNode;
  filters: Filter[];
  range?: { value: Range; change: (to: Record<keyof Range, string | undefined>) => void };
  clear: () => void;
  narrowed: boolean;
  children?: ReactNode;
}) {
  const t = useTexts(listTexts);
  const [editing, edit] = useState<string>();
  const chips = filters.filter((f) => f.value !== undefined || f.id === editing);
  const rest = filters.filter((f) => f.value === undefined);
  return (
    <div className={css.bar} role="group" aria-label={t.filters}>
      {search && <div className={css.search}>{search}</div>}
      {rest.length > 0 && (
        <Menu position="bottom-start" width={220} returnFocus={false}>
          <Menu.Target>
            <Button variant="default" leftSection={<IconFilter size={15} />}>
              {t.filter}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {rest.map((f) => (
              <Menu.Item key={f.id} onClick={() => setTimeout(() => edit(f.id))}>
                {f.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {range && <DateRange value={range.value} change={range.change} />}
      {children && <div className={css.extras}>{children}</div>}
      {(chips.length > 0 || narrowed) && (
        <div className={css.chips}>
          {chips.map((f) => (
            <Chip key={f.id} filter={f} opened={editing === f.id} open={(on) => edit(on ? f.id : undefined)} />
          ))}
          {narrowed && (
            <Button variant="subtle" color="gray" size="compact-sm" onClick={clear}>
              {t.clear}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function Chip({ filter: f, opened, open }: { filter: Filter; opened: boolean; open: (on: boolean) => void }) {
  const t = useTexts(listTexts);
  const shown = f.options?.find((o) => o.value === f.value)?.label ?? f.shown ?? f.value;
  const change = (to: string | undefined) => {
    open(false);
    if (to !== f.value) f.change(to);
  };
  return (
    <span className={css.chip} data-filter={f.id}>
      <Popover opened={opened} onChange={open} position="bottom-start" trapFocus returnFocus withinPortal>
        <Popover.Target>
          <button
            type="button"
            aria-expanded={opened}
            aria-haspopup="dialog"
            title={shown}
            onClick={() => open(!opened)}
          >
            <span className={css.chipName}>{f.label}</span>
            <span className="cut">{shown ?? "…"}</span>
          </button>
        </Popover.Target>
        <Popover.Dropdown p={6} aria-label={f.label}>
          {f.options ? <Options filter={f} change={change} /> : <Text filter={f} change={change} />}
        </Popover.Dropdown>
      </Popover>
      <ActionIcon
        variant="transparent"
        color="gray"
        size={24}
        aria-label={fill(t.removeFilter, { name: f.label })}
        onClick={() => change(undefined)}
      >
        <IconX size={13} />
      </ActionIcon>
    </span>
  );
}

/** step moves the focus among the buttons of a list by the arrow keys. */
function step(e: KeyboardEvent<HTMLElement>): void {
  const to = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (!to) return;
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>("input, button")];
  const next = all[all.indexOf(document.activeElement as HTMLElement) + to];
  if (!next) return;
  e.preventDefault();
  next.focus();
}

function Options({ filter: f, change }: { filter: Filter; change: (to: string | undefined) => void }) {
  const t = useTexts(listTexts);
  const [text, setText] = useState("");
  const plain = (s: string) => s.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const found = f.options!.filter((o) => plain(o.label).includes(plain(text.trim())));
  return (
    <div onKeyDown={step}>
      {f.options!.length > 10 && (
        <TextInput
          mb={6}
          aria-label={t.findValue}
          placeholder={t.findValue}
          value={text}
          data-autofocus
          onChange={(e) => setText(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter" && found[0]) change(found[0].value);
          }}
        />
      )}
      <div className={css.options} role="group" aria-label={f.label}>
        {found.map((o, i) => (
          <div key={o.value}>
            {o.group && o.group !== found[i - 1]?.group && <div className={css.group}>{o.group}</div>}
            <button
              type="button"
              aria-pressed={o.value === f.value}
              data-autofocus={f.options!.length <= 10 && (f.value ? o.value === f.value : i === 0) ? true : undefined}
              onClick={() => change(o.value)}
            >
              {o.label}
            </button>
          </div>
        ))}
        {found.length === 0 && <p className="small muted">{t.noValue}</p>}
      </div>
    </div>
  );
}

function Text({ filter: f, change }: { filter: Filter; change: (to: string | undefined) => void }) {
  const t = useTexts(listTexts);
  const [text, setText] = useState(f.value ?? "");
  const fits = text.trim() === "" || (f.fits?.(text.trim()) ?? true);
  return (
    <form
      className={css.text}
      onSubmit={(e) => {
        e.preventDefault();
        if (fits) change(text.trim() || undefined);
      }}
    >
      <TextInput
        aria-label={f.label}
        type={f.type ?? "text"}
        value={text}
        maxLength={255}
        data-autofocus
        error={fits ? undefined : t.badValue}
        onChange={(e) => setText(e.currentTarget.value)}
      />
      <Button type="submit" disabled={!fits}>
        {t.apply}
      </Button>
    </form>
  );
}
