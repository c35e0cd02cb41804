import { ActionIcon, Button, Input, Tooltip } from "@mantine/core";
import { IconBold, IconBraces, IconCode, IconItalic, IconStrikethrough } from "@tabler/icons-react";
import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { Counter } from "./Counter";
import { editorTexts } from "./texts";
import { limits } from "./rules";
import { markersOf } from "./variables";

interface Props {
  value: string;
  change: (to: string) => void;
  left: () => void;
  next: string;
  error?: ReactNode;
  advice?: string[];
}

/** BodyField is the text of a template. Its variables stand out; one is put in by the button, or by typing {{ and choosing. */
export function BodyField({ value, change, left, next, error: fault, advice }: Props) {
  const t = useTexts(editorTexts);
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const [asked, setAsked] = useState<{ from: number; typed: string }>();
  const [at, setAt] = useState(0);
  const options = asked
    ? [...new Set([...markersOf(value), next])]
        .filter((n) => n !== asked.typed && n.startsWith(asked.typed))
        .slice(0, 8)
    : [];
  const open = options.length > 0;
  const error = open ? undefined : fault;
  const chosen = Math.min(at, options.length - 1);

  /** put writes at the selection, so that it can be undone. */
  const put = (text: string, from?: number) => {
    const el = area.current!;
    el.focus();
    if (from !== undefined) el.setSelectionRange(from, el.selectionStart);
    if (!document.execCommand("insertText", false, text)) {
      el.setRangeText(text, el.selectionStart, el.selectionEnd, "end");
      change(el.value);
    }
    setAsked(undefined);
  };
  const wrap = (mark: string) => {
    const el = area.current!;
    const from = el.selectionStart,
      inner = el.value.slice(from, el.selectionEnd);
    put(mark + inner + mark);
    el.setSelectionRange(from + mark.length, from + mark.length + inner.length);
  };
  const look = () => {
    const el = area.current!;
    const m = /\{\{(\w*)$/.exec(el.value.slice(0, el.selectionStart));
    const ends = el.value.slice(el.selectionStart).startsWith("}");
    setAsked(m && !ends && el.selectionStart === el.selectionEnd ? { from: m.index, typed: m[1]! } : undefined);
    setAt(0);
  };
  const choose = (name: string) => put(`{{${name}}}`, asked!.from);
  const key = (e: KeyboardEvent) => {
    if (open) {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        e.preventDefault();
        setAt((chosen + (e.key === "ArrowDown" ? 1 : options.length - 1)) % options.length);
        return;
      }
      if (e.key === "Enter" || e.key === "Tab") {
        e.preventDefault();
        choose(options[chosen]!);
        return;
      }
      if (e.key === "Escape") {
        e.preventDefault();
        e.stopPropagation();
        setAsked(undefined);
        return;
      }
    }
    if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey) {
      const mark = { b: "*", i: "_" }[e.key.toLowerCase()];
      if (mark) {
        e.preventDefault();
        wrap(mark);
      }
    }
  };
  const marks = [
    ["*", t.bold, IconBold],
    ["_", t.italic, IconItalic],
    ["~", t.struck, IconStrikethrough],
    ["`", t.code, IconCode],
  ] as const;
  return (
    <Input.Wrapper label={t.body} id={id} error={error} errorProps={{ id: id + "-error" }} withAsterisk={false}>
      <div className="templates-body-box" data-error={error ? "yes" : undefined}>
        <div className="templates-tools" role="group" aria-label={t.tools}>
          {marks.map(([mark, label, Icon]) => (
            <Tooltip key={mark} label={label}>
              <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={() => wrap(mark)}>
                <Icon size={16} />
              </ActionIcon>
            </Tooltip>
          ))}
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconBraces size={15} />}
            onClick={() => put(`{{${next}}}`)}
          >
            {t.addVariable}
          </Button>
          <Counter text={value} most={limits.body} />
        </div>
        <div className="templates-write">
          <div className="templates-mirror" aria-hidden="true">
            {marked(value)}
            {"\n"}
          </div>
          <textarea
            ref={area}
            id={id}
            value={value}
            dir="auto"
            rows={6}
            placeholder={t.bodyPlaceholder}
            aria-invalid={!!error}
            aria-describedby={error ? id + "-error" : undefined}
            spellCheck
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-controls={open ? id + "-list" : undefined}
            aria-activedescendant={open ? `${id}-${chosen}` : undefined}
            onChange={(e) => {
              change(e.currentTarget.value);
              look();
            }}
            onKeyDown={key}
            onClick={() => setAsked(undefined)}
            onBlur={() => {
              setAsked(undefined);
              left();
            }}
          />
          {open && (
            <ul className="templates-options" role="listbox" id={id + "-list"} aria-label={t.variables}>
              {options.map((name, i) => (
                <li
                  key={name}
                  id={`${id}-${i}`}
                  role="option"
                  aria-selected={i === chosen}
                  onMouseDown={(e) => {
                    e.preventDefault();
                    choose(name);
                  }}
                >
                  <span className="templates-chip">{`{{${name}}}`}</span>
                  {name === next && !markersOf(value).includes(name) && (
                    <span className="small muted">{t.newVariable}</span>
                  )}
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
      {advice?.map((a) => (
        <p key={a} className="templates-advice small">
          {a}
        </p>
      ))}
      <span className="hidden" role="status">
        {open ? fill(t.optionsShown, { n: options.length }) : ""}
      </span>
    </Input.Wrapper>
  );
}

/** marked is a text whose variables stand out. */
function marked(text: string) {
  return text.split(/(\{\{[^{}]*\}\})/).map((s, i) => (i % 2 ? <mark key={i}>{s}</mark> : <span key={i}>{s}</span>));
}
