// Fields that several forms of steps have.
import { ActionIcon, Button, Menu, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconBraces, IconPlus, IconTrash } from "@tabler/icons-react";
import { useRef, useState, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { formTexts } from "./texts";

/** Said is a text in which variables may stand. */
export function Said({
  label,
  description,
  value,
  onChange,
  error,
  variables,
  rows = 2,
  mono,
  required,
  first,
}: {
  label: string;
  description?: string;
  value: string;
  onChange: (v: string) => void;
  error?: ReactNode;
  variables: string[];
  rows?: number;
  mono?: boolean;
  required?: boolean;
  first?: boolean; // it has the focus when its step is new
}) {
  const f = useTexts(formTexts);
  const area = useRef<HTMLTextAreaElement>(null);
  const put = (name: string) => {
    const a = area.current!;
    const [from, to] = [a.selectionStart ?? value.length, a.selectionEnd ?? value.length];
    onChange(`${value.slice(0, from)}{{${name}}}${value.slice(to)}`);
    setTimeout(() => {
      a.focus();
      a.selectionStart = a.selectionEnd = from + name.length + 4;
    });
  };
  return (
    <div className="flow-said">
      <Textarea
        ref={area}
        label={label}
        description={description}
        autosize
        minRows={rows}
        maxRows={12}
        maxLength={4000}
        value={value}
        onChange={(e) => onChange(e.currentTarget.value)}
        error={error}
        required={required}
        withAsterisk={false}
        spellCheck={!mono}
        data-first={first ? "" : undefined}
        styles={mono ? { input: { fontFamily: "var(--mono)", fontSize: 13 } } : undefined}
      />
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <Button
            className="flow-insert"
            variant="subtle"
            color="gray"
            size="compact-xs"
            leftSection={<IconBraces size={13} />}
          >
            {f.insert}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={300} style={{ overflowY: "auto" }}>
          {variables.map((v) => (
            <Menu.Item key={v} onClick={() => put(v)}>
              <code>{v}</code>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

type Pair = [string, string];

/** Pairs is a map, edited in rows: a name may be empty or twice while it is typed. */
export function Pairs({
  label,
  description,
  value,
  onChange,
  error,
  name,
  text,
  add,
  nameMono = true,
  most = 50,
  under,
}: {
  label: string;
  description?: string;
  value: Record<string, string>;
  onChange: (v: Record<string, string>) => void;
  error: (name: string) => ReactNode;
  name: string;
  text: string;
  add: string;
  nameMono?: boolean;
  most?: number;
  under?: (name: string, value: string, set: (value: string) => void) => ReactNode;
}) {
  const f = useTexts(formTexts);
  const [rows, setRows] = useState<Pair[]>(Object.entries(value));
  const kept = JSON.stringify(Object.fromEntries(rows));
  const [last, setLast] = useState(JSON.stringify(value));
  const now = JSON.stringify(value);
  if (now !== last) {
    // it was changed elsewhere, such as by discarding the changes
    setLast(now);
    if (now !== kept) setRows(Object.entries(value));
  }
  const write = (to: Pair[]) => {
    setRows(to);
    onChange(Object.fromEntries(to));
  };
  const set = (i: number, x: Partial<{ n: string; v: string }>) =>
    write(rows.map((r, at) => (at === i ? [x.n ?? r[0], x.v ?? r[1]] : r)));
  return (
    <fieldset className="flow-pairs">
      <legend className="field-label">{label}</legend>
      {description && <p className="small muted">{description}</p>}
      {rows.map(([n, v], i) => (
        <div key={i} className="flow-pair">
          <TextInput
            aria-label={name}
            placeholder={name}
            spellCheck={false}
            value={n}
            onChange={(e) => set(i, { n: e.currentTarget.value })}
            error={error(n)}
            styles={nameMono ? { input: { fontFamily: "var(--mono)", fontSize: 13 } } : undefined}
          />
          <TextInput
            aria-label={n ? `${text}: ${n}` : text}
            placeholder={text}
            spellCheck={false}
            value={v}
            onChange={(e) => set(i, { v: e.currentTarget.value })}
          />
          <Tooltip label={fill(f.removeValue, { name: n || "?" })}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size={34}
              aria-label={fill(f.removeValue, { name: n || "?" })}
              onClick={() => write(rows.filter((_, at) => at !== i))}
            >
              <IconTrash size={15} />
            </ActionIcon>
          </Tooltip>
          {under?.(n, v, (to) => set(i, { v: to }))}
        </div>
      ))}
      {rows.length < most && (
        <div>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPlus size={13} />}
            onClick={() => setRows([...rows, ["", ""]])}
          >
            {add}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

/** Half puts fields next to each other. */
export function Half({ children }: { children: ReactNode }) {
  return <div className="pair flow-half">{children}</div>;
}
