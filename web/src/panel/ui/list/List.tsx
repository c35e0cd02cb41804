import { Button, Checkbox, Menu, ActionIcon, Tooltip } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconColumns3, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useState, type MouseEvent, type ReactNode } from "react";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Card, Failed, Rows } from "../parts";
import { failed } from "../problem";
import { listTexts } from "../texts";
import { BulkDialog, type Bulk } from "./BulkDialog";
import css from "./list.module.css";
import type { ListMemory } from "./memory";
import type { LiveList } from "./useLiveList";
import { useListKeys } from "./useListKeys";
import { most, useSelection } from "./useSelection";

/** Column is one thing that a list shows of each row. */
export interface Column<T> {
  id: string;
  label: string;
  /** head is shown instead of the label. */
  head?: ReactNode;
  cell: (row: T) => ReactNode;
  width?: number | string;
  /** from is the narrowest screen that has room for it, "wide" a list with room for many columns; default: every one. */
  from?: "tablet" | "desktop" | "wide";
  /** fixed columns can't be hidden. */
  fixed?: boolean;
  end?: boolean;
  /** icon: the cells hold a picture, which is never cut with an ellipsis. */
  icon?: boolean;
  /** by sorts the rows of a list that is loaded as a whole. */
  by?: (row: T) => string | number;
}

/** Target is where a row leads to. */
export type Target =
  { to: string; params?: Record<string, string>; search?: Record<string, unknown> } | { open: () => void };

export interface ListProps<T> {
  label: string;
  /** title is a visible heading of the list; head is below it, above the rows. */
  title?: string;
  head?: ReactNode;
  columns: Column<T>[];
  rows: T[];
  id: (row: T) => string;
  /** name says in words which row it is. */
  name: (row: T) => string;
  /** target is where the row leads to; its link is in the first column that is `fixed`. */
  target?: (row: T) => Target | undefined;
  /** under is a second line for phones, in place of the columns that have no room. */
  under?: (row: T) => ReactNode;
  current?: string;
  live?: (row: T) => boolean;
  memory?: ListMemory;
  bulk?: Bulk<T>[];
  /** tools are what can be done with one row, at its end. */
  tools?: (row: T) => ReactNode;
  /** foot is below the rows, such as a button for more. */
  foot?: ReactNode;
  reading?: LiveList<T>["reading"];
  fresh?: ReactNode;
  /** keys adds what the list's page does by keys to the list of shortcuts. */
  find?: string;
}

/** List shows rows in columns. All of a row leads to its target. */
export function List<T>(p: ListProps<T>) {
  const t = useTexts(listTexts);
  const language = useLanguage();
  const [sort, setSort] = useState<{ by: string; down: boolean }>();
  const rows = useMemo(() => {
    const by = p.columns.find((c) => c.id === sort?.by)?.by;
    if (!by) return p.rows;
    const order = new Intl.Collator(language, { numeric: true });
    const up = [...p.rows].sort((a, b) => {
      const [x, y] = [by(a), by(b)];
      return typeof x === "number" && typeof y === "number" ? x - y : order.compare(String(x), String(y));
    });
    return sort!.down ? up.reverse() : up;
  }, [p.rows, p.columns, sort, language]);
  const selection = useSelection(rows, p.id);
  const { selected } = selection;
  const choice = (p.bulk?.length ?? 0) > 0;
  const { box, pointer, chosen } = p.reading ?? {};
  useEffect(() => {
    if (chosen) chosen.current = selected.length > 0;
  }, [chosen, selected.length]);
  const keys = useListKeys(p.label, p.find, choice ? selection.toggle : undefined);
  const columns = p.columns.filter((c) => c.fixed || !p.memory?.hidden.includes(c.id));
  const main = columns.find((c) => c.fixed);
  const every = rows.length > 0 && rows.slice(0, most).every((r) => selection.has(p.id(r)));
  return (
    <div
      ref={box}
      // React misses an enter where what was under the pointer before has been removed, such as a filter.
      onPointerOver={(e) => {
        if (pointer && e.pointerType === "mouse") pointer.current = true;
      }}
      onPointerLeave={() => {
        if (pointer) pointer.current = false;
      }}
    >
      {p.fresh}
      <Card flush label={p.label} title={p.title}>
        {!p.title && !p.head && <h2 className="hidden">{p.label}</h2>}
        {p.head}
        <div ref={keys} className={`table-wrap ${css.wrap}`}>
          <table className={`table ${css.table}`} data-list>
            <thead>
              <tr>
                {choice && (
                  <th className={css.check}>
                    <Checkbox
                      size="xs"
                      aria-label={t.selectAll}
                      checked={every}
                      indeterminate={!every && selected.length > 0}
                      onChange={() => selection.choose(every ? [] : rows.map(p.id))}
                    />
                  </th>
                )}
                {columns.map((c) => (
                  <th
                    key={c.id}
                    className={css.head}
                    style={{ width: c.width }}
                    data-main={c === main ? "" : undefined}
                    data-narrow={typeof c.width === "number" && c.width <= 100 ? "" : undefined}
                    data-from={c.from}
                    data-end={c.end ? "" : undefined}
                    data-fixed={c === main ? "" : undefined}
                    aria-sort={sort?.by === c.id ? (sort.down ? "descending" : "ascending") : undefined}
                  >
                    {c.by ? (
                      <button
                        type="button"
                        className={css.sort}
                        onClick={() => setSort({ by: c.id, down: sort?.by === c.id && !sort.down })}
                      >
                        {c.head ?? c.label}
                        {sort?.by === c.id &&
                          (sort.down ? <IconArrowDown size={13} aria-hidden /> : <IconArrowUp size={13} aria-hidden />)}
                      </button>
                    ) : (
                      (c.head ?? c.label)
                    )}
                  </th>
                ))}
                {p.tools && (
                  <th className={css.tools}>
                    <span className="hidden">{t.tools}</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {rows.map((r) => {
                const id = p.id(r);
                return (
                  <tr
                    key={id}
                    data-id={id}
                    data-live={p.live?.(r) ? "yes" : undefined}
                    data-chosen={selection.has(id) ? "yes" : undefined}
                    aria-current={p.current === id ? "true" : undefined}
                    onClick={forward}
                  >
                    {choice && (
                      <td className={css.check}>
                        <Checkbox
                          size="xs"
                          aria-label={fill(t.select, { name: p.name(r) })}
                          checked={selection.has(id)}
                          onChange={(e) => selection.toggle(id, (e.nativeEvent as PointerEvent).shiftKey)}
                        />
                      </td>
                    )}
                    {columns.map((c) => (
                      <td
                        key={c.id}
                        data-from={c.from}
                        data-column={c.id}
                        data-end={c.end ? "" : undefined}
                        data-icon={c.icon ? "" : undefined}
                      >
                        {c === main ? (
                          <Main target={p.target?.(r)} name={p.name(r)}>
                            {c.cell(r)}
                          </Main>
                        ) : (
                          c.cell(r)
                        )}
                        {c === main && p.under && <span className="phone-only small muted cut">{p.under(r)}</span>}
                      </td>
                    ))}
                    {p.tools && <td className={css.tools}>{p.tools(r)}</td>}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </Card>
      {p.foot}
      {choice && selected.length > 0 && (
        <Selected
          bulk={p.bulk!}
          rows={selected}
          all={rows.length}
          name={p.name}
          choose={(of) => selection.choose(of.map(p.id))}
        />
      )}
    </div>
  );
}

/** forward passes a click beside a row's link on to it. */
function forward(e: MouseEvent<HTMLTableRowElement>): void {
  const at = e.target as Element;
  if (!e.currentTarget.contains(at) || at.closest("a, button, input, label, [role=menu]")) return;
  if (window.getSelection()?.type === "Range") return; // a text is being selected
  const link = e.currentTarget.querySelector<HTMLElement>("[data-main]");
  const { ctrlKey, metaKey, shiftKey } = e;
  link?.dispatchEvent(new window.MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }));
}

function Main({ target, name, children }: { target: Target | undefined; name: string; children: ReactNode }) {
  if (!target) return <span className={`row-title ${css.plain}`}>{children}</span>;
  if ("open" in target)
    return (
      <button type="button" className={`row-title ${css.main}`} title={name} data-main onClick={target.open}>
        {children}
      </button>
    );
  return (
    <Link
      className={`row-title ${css.main}`}
      title={name}
      data-main
      to={target.to}
      params={target.params}
      search={target.search}
    >
      {children}
    </Link>
  );
}

/** Selected is what can be done with the selected rows. */
function Selected<T>({
  bulk,
  rows,
  all,
  name,
  choose,
}: {
  bulk: Bulk<T>[];
  rows: T[];
  all: number;
  name: (row: T) => string;
  choose: (rows: T[]) => void;
}) {
  const t = useTexts(listTexts);
  const language = useLanguage();
  const [doing, set] = useState<{ bulk: Bulk<T>; rows: T[] }>();
  const count = fill(t.selected, { n: number(rows.length, language) });
  return (
    <div className={css.selected} role="region" aria-label={t.selection}>
      <span className="nowrap" role="status">
        {count}
        {rows.length === most && all > most && " · " + fill(t.atMost, { n: number(most, language) })}
      </span>
      <div>
        {bulk.map((b) => {
          const fits = rows.filter((r) => b.fits?.(r) ?? true).length;
          return (
            <Button
              key={b.id}
              size="xs"
              variant={b.danger ? "light" : "default"}
              color={b.danger ? "red" : undefined}
              leftSection={b.icon}
              disabled={fits === 0}
              onClick={() => (b.now ? b.now(rows) : set({ bulk: b, rows }))}
            >
              {b.label}
            </Button>
          );
        })}
      </div>
      <ActionIcon variant="subtle" color="gray" aria-label={t.deselect} onClick={() => choose([])}>
        <IconX size={16} />
      </ActionIcon>
      {doing && (
        <BulkDialog
          bulk={doing.bulk}
          rows={doing.rows}
          name={name}
          close={(failures) => {
            set(undefined);
            if (failures) choose(failures);
          }}
        />
      )}
    </div>
  );
}

/** Columns chooses which columns a list shows. */
export function Columns<T>({ columns, memory }: { columns: Column<T>[]; memory: ListMemory }) {
  const t = useTexts(listTexts);
  const of = columns.filter((c) => !c.fixed);
  return (
    <Menu position="bottom-end" closeOnItemClick={false} width={220}>
      <Menu.Target>
        <Tooltip label={t.columns}>
          <ActionIcon variant="default" size={36} aria-label={t.columns}>
            <IconColumns3 size={17} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.columns}</Menu.Label>
        {of.map((c) => {
          const on = !memory.hidden.includes(c.id);
          return (
            <Menu.CheckboxItem
              key={c.id}
              checked={on}
              onChange={() => memory.hide(on ? [...memory.hidden, c.id] : memory.hidden.filter((x) => x !== c.id))}
            >
              {c.label}
            </Menu.CheckboxItem>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

/** LiveRows is a live list in all its states. */
export function LiveRows<T>({
  list,
  empty,
  news,
  ...p
}: Omit<ListProps<T>, "rows" | "foot" | "reading" | "fresh"> & {
  list: LiveList<T>;
  /** empty is shown where there are no rows; `on` looks further, where rows may be left. */
  empty: (on: ReactNode) => ReactNode;
  /** news says that rows are held back: {one, many}. */
  news?: { one: string; many: string };
}) {
  const t = useTexts(listTexts);
  const language = useLanguage();
  const { rows, fresh, cursor, gap } = list.shown;
  if (list.phase === "loading") return <Rows n={8} />;
  if (list.phase === "failed")
    return (
      <Card flush label={p.label}>
        <Failed error={list.error} retry={list.retry} />
      </Card>
    );
  const on = (text: string) => (
    <Button variant="default" loading={list.more} onClick={() => void list.older().catch(failed)}>
      {text}
    </Button>
  );
  if (rows.length === 0) return empty(cursor ? on(t.searchOn) : null);
  return (
    <List
      {...p}
      rows={rows}
      reading={list.reading}
      fresh={
        fresh.length > 0 && (
          <div className={css.fresh}>
            <Button
              size="xs"
              radius="xl"
              leftSection={<IconArrowUp size={14} />}
              onClick={() => {
                list.reveal();
                window.scrollTo({ top: 0 });
              }}
            >
              {fresh.length === 1
                ? (news?.one ?? t.newOne)
                : fill(news?.many ?? t.newMany, { n: gap ? fresh.length + "+" : fresh.length })}
            </Button>
          </div>
        )
      }
      foot={<Foot shown={number(rows.length, language)} more={cursor ? on(t.more) : null} />}
    />
  );
}

/** Foot says how many rows are shown, and whether these are all. */
export function Foot({ shown, more }: { shown: string; more?: ReactNode }) {
  const t = useTexts(listTexts);
  return (
    <div className={css.foot}>
      <span className="small muted">{fill(more ? t.shownSoFar : t.shownAll, { n: shown })}</span>
      {more}
    </div>
  );
}
