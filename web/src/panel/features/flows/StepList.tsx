import { because } from "../../ui/problem";
import { ActionIcon, Button, Menu } from "@mantine/core";
import {
  IconAlertCircle,
  IconArrowDown,
  IconArrowUp,
  IconCopy,
  IconCornerLeftUp,
  IconCornerRightDown,
  IconDots,
  IconGripVertical,
  IconPlus,
  IconTrash,
} from "@tabler/icons-react";
import { createContext, useContext, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { filled } from "../../ui/English";
import { shared } from "../../ui/texts";
import { AddStep } from "./AddStep";
import styles from "./gap.module.css";
import { icons, kindText } from "./Icons";
import {
  branches,
  duplicate,
  faultsAt,
  kindOf,
  listAt,
  move,
  numberOf,
  remove,
  shift,
  split,
  summary,
  type Direction,
  type Kind,
  type Moved,
} from "./model";
import { texts } from "./texts";
import type { Fault, Step } from "./types";

export interface ListProps {
  steps: Step[];
  faults: Fault[];
  chosen: string; // the path of the step whose form is open; "": none is
  current?: string; // where a run stands
  choose: (path: string) => void;
  change?: (steps: Step[], chosen?: string) => void; // without it the steps are shown alone
  add?: (kind: Kind, list: string, index: number) => void;
  added?: { path: string }; // the last step that was added: its form takes the focus
  form?: (path: string, s: Step) => ReactNode;
  names?: (s: Step) => string; // a summary with names in place of ids
}

interface Shared extends ListProps {
  dragged: string;
  drag: (path: string) => void;
  say: (text: string) => void;
  focus: (path: string) => void;
}
const Within = createContext<Shared | null>(null);

/** StepList is the steps of a flow, with the form of the chosen one. */
export function StepList(props: ListProps) {
  const t = useTexts(texts);
  const [dragged, drag] = useState("");
  const [said, say] = useState("");
  const wanted = useRef("");
  const box = useRef<HTMLDivElement>(null);
  const focus = (path: string) => {
    wanted.current = path;
  };
  useEffect(() => {
    if (!wanted.current) return;
    box.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)?.focus();
    wanted.current = "";
  });
  useEffect(() => {
    const form = props.added && box.current?.querySelector(`[data-path="${props.added.path}"] > .flow-form`);
    (form?.querySelector<HTMLElement>("[data-first]") ?? form?.querySelector<HTMLElement>("input, textarea"))?.focus();
  }, [props.added]);
  return (
    <Within.Provider value={{ ...props, dragged, drag, say, focus }}>
      <div ref={box} className="flow-steps" data-dragging={dragged ? "yes" : undefined}>
        {props.steps.length === 0 && <p className="muted flow-none">{t.noSteps}</p>}
        <List list="steps" steps={props.steps} />
        <div className="hidden" role="status">
          {said}
        </div>
      </div>
    </Within.Provider>
  );
}

function List({ list, steps, label }: { list: string; steps: Step[]; label?: string }) {
  const x = useContext(Within)!;
  return (
    <div className="flow-list">
      <ol aria-label={label}>
        {steps.map((s, i) => (
          <li key={i}>
            {x.change && <Gap list={list} index={i} />}
            <Row path={`${list}.${i}`} step={s} />
          </li>
        ))}
      </ol>
      {x.change && <Gap list={list} index={steps.length} last />}
    </div>
  );
}

/** Gap is a place between two steps: something can be dropped or added there. */
function Gap({ list, index, last }: { list: string; index: number; last?: boolean }) {
  const t = useTexts(texts);
  const x = useContext(Within)!;
  const [over, setOver] = useState(false);
  const drop = () => {
    setOver(false);
    const m = x.dragged && move(x.steps, x.dragged, list, index);
    if (m) x.change!(m.steps, m.path);
    x.drag("");
  };
  const fits = x.dragged !== "" && !(list + ".").startsWith(x.dragged + ".");
  return (
    <div
      className={last ? `${styles.gap} ${styles.last}` : styles.gap}
      data-gap={`${list}.${index}`}
      data-last={last ? list : undefined}
      data-over={over && fits ? "yes" : undefined}
      onDragOver={(e) => {
        if (fits) {
          e.preventDefault();
          setOver(true);
        }
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        drop();
      }}
    >
      <AddStep add={(kind) => x.add!(kind, list, index)}>
        {last ? (
          <Button variant="subtle" color="gray" size="compact-sm" leftSection={<IconPlus size={14} />}>
            {t.add}
          </Button>
        ) : (
          <ActionIcon
            className={styles.here}
            variant="default"
            size={24}
            radius="xl"
            aria-label={fill(t.addBefore, { n: numberOf(`${list}.${index}`, t.yes, t.no) })}
          >
            <IconPlus size={12} />
          </ActionIcon>
        )}
      </AddStep>
    </div>
  );
}

function Row({ path, step }: { path: string; step: Step }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const x = useContext(Within)!;
  const kind = kindOf(step);
  const Icon = icons[kind];
  const chosen = x.chosen === path;
  const faults = faultsAt(x.faults, path);
  const n = numberOf(path, t.yes, t.no);
  const take = (m: Moved | null) => {
    if (!m) return;
    x.change!(m.steps, chosen ? m.path : x.chosen && m.path);
    x.say(fill(t.moved, { n: numberOf(m.path, t.yes, t.no) }));
    x.focus(m.path);
  };
  const drop = () => {
    const { list, index } = split(path);
    const left = listAt(x.steps, list).length - 1;
    x.change!(remove(x.steps, path), "");
    if (left > 0) x.focus(`${list}.${Math.min(index, left - 1)}`);
  };
  const keys = (e: KeyboardEvent<HTMLElement>) => {
    if (e.target !== e.currentTarget) return;
    const arrows: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowRight: "in", ArrowLeft: "out" };
    if (x.change && e.altKey && e.key in arrows) {
      e.preventDefault();
      take(shift(x.steps, path, arrows[e.key]!));
      return;
    }
    if (x.change && (e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "d") {
      e.preventDefault();
      take(duplicate(x.steps, path));
      return;
    }
    if (x.change && (e.key === "Delete" || e.key === "Backspace")) {
      e.preventDefault();
      drop();
      return;
    }
    const box = e.currentTarget.closest(".flow-steps")!;
    if (x.change && (e.key === "Insert" || e.key.toLowerCase() === "a") && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      e.stopPropagation(); // a menu closes with a key outside
      const { list, index } = split(path);
      const here = box.querySelector<HTMLElement>(`[data-gap="${list}.${index + 1}"] button`);
      here?.focus(); // comes into view: a menu out of view would hide
      here?.click();
      return;
    }
    if ((e.key !== "ArrowUp" && e.key !== "ArrowDown") || e.altKey) return;
    const rows = [...box.querySelectorAll<HTMLElement>("[data-row]")];
    const to = rows[rows.indexOf(e.currentTarget) + (e.key === "ArrowUp" ? -1 : 1)];
    if (to) {
      e.preventDefault();
      to.focus();
    }
  };
  const can = (to: Direction) => shift(x.steps, path, to) !== null;
  return (
    <div className="flow-step" data-kind={kind} data-path={path}>
      <div
        className="flow-row"
        data-chosen={chosen ? "yes" : undefined}
        data-current={x.current === path ? "yes" : undefined}
        data-faulty={faults.length ? "yes" : undefined}
        onDragEnd={() => x.drag("")}
      >
        {x.change && (
          <span
            className="flow-grip"
            draggable
            title={t.drag}
            onDragStart={(e) => {
              e.dataTransfer.effectAllowed = "move";
              e.dataTransfer.setData("text/plain", path);
              e.dataTransfer.setDragImage(e.currentTarget.parentElement!, 10, 10);
              setTimeout(() => x.drag(path)); // the list changes its shape, which would end the dragging at once
            }}
          >
            <IconGripVertical size={14} aria-hidden="true" />
          </span>
        )}
        <button
          type="button"
          className="flow-open"
          data-row={path}
          aria-expanded={x.form ? chosen : undefined}
          aria-current={x.current === path ? "step" : undefined}
          onClick={() => x.choose(chosen ? "" : path)}
          onKeyDown={keys}
        >
          <span className="flow-icon">
            <Icon size={16} stroke={1.8} aria-hidden="true" />
          </span>
          <span className="flow-text">
            <span className="flow-kind">
              <span className="hidden">{fill(t.stepN, { n })}: </span>
              {kindText(kind, t)}
              {step.id && <code>{step.id}</code>}
            </span>
            <span className="hidden">. </span>
            <span className="cut">{x.names?.(step) ?? summary(step)}</span>
          </span>
          {faults.length > 0 && (
            <span className="flow-fault">
              <IconAlertCircle size={16} aria-hidden="true" />
              <span className="hidden">
                . {filled(t.issue, { text: faults[0]!.field === path ? t.unfinished : because(faults[0]) })}
              </span>
            </span>
          )}
        </button>
        {x.change && (
          <Menu position="bottom-end" width={270}>
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={fill(t.actionsOf, { n })}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconArrowUp size={15} />}
                disabled={!can("up")}
                onClick={() => take(shift(x.steps, path, "up"))}
              >
                {t.up}
              </Menu.Item>
              <Menu.Item
                leftSection={<IconArrowDown size={15} />}
                disabled={!can("down")}
                onClick={() => take(shift(x.steps, path, "down"))}
              >
                {t.down}
              </Menu.Item>
              {can("in") && (
                <Menu.Item
                  leftSection={<IconCornerRightDown size={15} />}
                  onClick={() => take(shift(x.steps, path, "in"))}
                >
                  {fill(t.inThen, { branch: t.then })}
                </Menu.Item>
              )}
              {can("in_else") && (
                <Menu.Item
                  leftSection={<IconCornerRightDown size={15} />}
                  onClick={() => take(shift(x.steps, path, "in_else"))}
                >
                  {fill(t.inThen, { branch: t.otherwise })}
                </Menu.Item>
              )}
              {can("out") && (
                <Menu.Item
                  leftSection={<IconCornerLeftUp size={15} />}
                  onClick={() => take(shift(x.steps, path, "out"))}
                >
                  {t.out}
                </Menu.Item>
              )}
              <Menu.Item leftSection={<IconCopy size={15} />} onClick={() => take(duplicate(x.steps, path))}>
                {t.duplicate}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={drop}>
                {s.remove}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
      {chosen && x.form && (
        <div className="flow-form" role="group" aria-label={`${fill(t.stepN, { n })}: ${kindText(kind, t)}`}>
          {x.form(path, step)}
        </div>
      )}
      {kind === "if" &&
        branches.map((b) => (
          <div key={b} className="flow-branch" data-branch={b}>
            <div className="flow-branch-head">{b === "then" ? t.then : t.otherwise}</div>
            <List list={`${path}.${b}`} steps={step[b] ?? []} label={b === "then" ? t.then : t.otherwise} />
          </div>
        ))}
    </div>
  );
}
