import { ActionIcon, Autocomplete, Button, SegmentedControl, Select, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import {
  alone,
  blank,
  lacks,
  numeric,
  operators,
  read,
  write,
  type Condition,
  type Operator,
  type Row,
} from "./condition";
import styles from "./condition.module.css";
import { Said } from "./fields";
import { errorOf, lastAsked, repliesOf, variablesOf } from "./model";
import { conditionTexts, formTexts } from "./texts";
import type { Step, StepProps } from "./types";

/** ConditionForm is a condition as rows, and as the expression that they write. */
export function ConditionForm({ path, step: s, steps, faults, change }: StepProps) {
  const f = useTexts(formTexts);
  const c = useTexts(conditionTexts);
  const text = s.if ?? "";
  const begin = (): Condition | null => (text ? read(text) : { join: "and", rows: [blank(lastAsked(steps, path))] });
  const [built, setBuilt] = useState(begin);
  const [written, setWritten] = useState(text);
  if (text !== written) {
    // the expression was changed, or the changes were discarded
    setWritten(text);
    setBuilt(begin());
  }
  const set = (to: Condition) => {
    const next = write(to);
    setBuilt(to);
    setWritten(next);
    change({ ...s, if: next });
  };
  const error = faults.some((x) => x.field === path) ? f.required : errorOf(faults, path + ".if");
  const lacking = !!built?.rows.some(lacks);
  return (
    <>
      {built ? <Rows value={built} change={set} steps={steps} marked={!!error} /> : <Note>{c.unreadable}</Note>}
      <details className={styles.expression} open={!built || undefined}>
        <summary>{c.expression}</summary>
        <Said
          mono
          rows={1}
          label={f.condition}
          description={f.conditionHelp}
          value={text}
          onChange={(v) => change({ ...s, if: v.replace(/\{\{(\w+)\}\}/g, "$1") })}
          variables={variablesOf(steps)}
        />
      </details>
      {error && !lacking && <Note tone="danger">{error}</Note>}
    </>
  );
}

function Rows({
  value,
  change,
  steps,
  marked,
}: {
  value: Condition;
  change: (to: Condition) => void;
  steps: Step[];
  marked: boolean;
}) {
  const c = useTexts(conditionTexts);
  const { join, rows } = value;
  const variables = variablesOf(steps);
  const set = (i: number, to: Partial<Row>) =>
    change({ join, rows: rows.map((r, at) => (at === i ? { ...r, ...to } : r)) });
  return (
    <fieldset className={styles.rows}>
      <legend className="field-label">{c.legend}</legend>
      {rows.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={c.join}
          value={join}
          onChange={(v) => change({ join: v as Condition["join"], rows })}
          data={[
            { value: "and", label: c.all },
            { value: "or", label: c.any },
          ]}
        />
      )}
      {rows.map((r, i) => {
        const lack = marked ? lacks(r) : undefined;
        const n = i + 1;
        return (
          <div key={i} className={styles.row}>
            <Autocomplete
              aria-label={fill(c.variable, { n })}
              placeholder={c.variableHint}
              spellCheck={false}
              data={variables}
              value={r.variable}
              onChange={(variable) => set(i, { variable, number: undefined })}
              error={lack === "variable" ? c.chooseVariable : undefined}
              data-first={r.variable ? undefined : ""}
            />
            <Select
              aria-label={fill(c.operator, { n })}
              allowDeselect={false}
              checkIconPosition="right"
              value={r.operator}
              data={operators.map((o) => ({ value: o, label: c[o] }))}
              onChange={(o) => set(i, { operator: o as Operator })}
              comboboxProps={{ width: 200, position: "bottom-start" }}
            />
            {!alone.includes(r.operator) && (
              <Autocomplete
                aria-label={fill(c.value, { n })}
                placeholder={c.valueHint}
                inputMode={numeric.includes(r.operator) ? "decimal" : undefined}
                data={numeric.includes(r.operator) ? [] : repliesOf(steps, r.variable)}
                filter={({ options }) => options}
                value={r.value}
                onChange={(v) => set(i, { value: v })}
                error={lack === "value" ? c.enterValue : lack === "number" ? c.enterNumber : undefined}
                data-first={r.variable ? "" : undefined}
              />
            )}
            {rows.length > 1 && (
              <Tooltip label={fill(c.removeRow, { n })}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={34}
                  aria-label={fill(c.removeRow, { n })}
                  onClick={() => change({ join, rows: rows.filter((_, at) => at !== i) })}
                >
                  <IconTrash size={15} />
                </ActionIcon>
              </Tooltip>
            )}
          </div>
        );
      })}
      {rows.length < most && (
        <div>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPlus size={13} />}
            onClick={() => change({ join, rows: [...rows, blank(rows.at(-1)!.variable)] })}
          >
            {c.addRow}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

const most = 20;
