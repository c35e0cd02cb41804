import { Button, NumberInput, Select, TagsInput, TextInput } from "@mantine/core";
import "@mantine/core/styles/NumberInput.css";
import { useTexts } from "../../i18n";
import { Note } from "../../ui/parts";
import { Said } from "./fields";
import { Message } from "./Message";
import { errorOf, listAt, merge, mergeable, split, variablesOf } from "./model";
import { formTexts } from "./texts";
import type { StepProps } from "./types";

/** AskForm is the question of a step, what replies it takes, and where they are kept. */
export function AskForm(props: StepProps) {
  const { path, step: s, steps, faults, change, changeAll } = props;
  const f = useTexts(formTexts);
  const choices = s.choices ?? [];
  const variables = variablesOf(steps);
  const error = (field: string) => errorOf(faults, `${path}.${field}`);
  const { list, index } = split(path);
  const before = mergeable(steps, path) ? listAt(steps, list)[index - 1]?.say : undefined;
  return (
    <>
      <Said
        first
        label={f.question}
        description={f.questionHelp}
        value={s.question ?? ""}
        onChange={(v) => change({ ...s, question: v || undefined })}
        error={error("question")}
        variables={variables}
      />
      {before && (
        <Note>
          <p>{f.mergeable}</p>
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => {
              const m = merge(steps, path);
              changeAll(m.steps, m.path);
            }}
          >
            {f.merge}
          </Button>
        </Note>
      )}
      <TagsInput
        label={f.choices}
        description={f.choicesHelp}
        maxTags={10}
        acceptValueOnBlur
        value={choices}
        error={error("choices")}
        onChange={(to) => {
          const { choices: _, ...rest } = s;
          change(to.length ? { ...rest, choices: to, accept: undefined } : rest);
        }}
      />
      {choices.length === 0 && (
        <Select
          label={f.accept}
          value={s.accept || "text"}
          allowDeselect={false}
          checkIconPosition="right"
          style={{ maxWidth: 320 }}
          error={error("accept")}
          onChange={(v) => change({ ...s, accept: v === "text" ? undefined : v! })}
          data={[
            { value: "text", label: f.acceptText },
            { value: "number", label: f.acceptNumber },
            { value: "email", label: f.acceptEmail },
            { value: "phone", label: f.acceptPhone },
            { value: "date", label: f.acceptDate },
            { value: "yes_no", label: f.acceptYesNo },
          ]}
        />
      )}
      <Message text={s.question || before || ""} choices={choices} steps={steps} />
      <TextInput
        label={f.variable}
        description={f.variableHelp}
        spellCheck={false}
        maxLength={64}
        value={s.ask ?? ""}
        onChange={(e) => change({ ...s, ask: e.currentTarget.value })}
        error={faults.some((x) => x.field === path) ? f.required : error("ask")}
        style={{ maxWidth: 320 }}
      />
      <Said
        rows={1}
        label={f.retry}
        description={f.retryHelp}
        value={s.retry ?? ""}
        onChange={(v) => change({ ...s, retry: v || undefined })}
        error={error("retry")}
        variables={variables}
      />
      <NumberInput
        label={f.retries}
        description={f.retriesHelp}
        min={0}
        max={10}
        allowDecimal={false}
        value={s.retries ?? 2}
        onChange={(v) => change({ ...s, retries: v === "" || v === 2 ? undefined : Number(v) })}
        error={error("retries")}
        style={{ maxWidth: 240 }}
      />
    </>
  );
}
