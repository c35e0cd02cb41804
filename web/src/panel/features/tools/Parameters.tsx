import type { ReactNode } from "react";
import { ActionIcon, Button, Checkbox, Select, TagsInput, TextInput, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { fill, useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { Localized } from "./Localized";
import { texts } from "./texts";
import type { Parameter, Tool } from "./types";

const types = ["text", "number", "integer", "boolean", "choice", "date"] as const;

/** Parameters edits the parameters of an HTTP tool. */
export function Parameters({ draft }: { draft: Draft<Tool> }) {
  const t = useTexts(texts);
  const all = draft.value.parameters ?? [];
  const keep = (to: Parameter[]) => draft.set({ parameters: to.length ? to : undefined });
  return (
    <Card title={t.parameters}>
      <div className="form">
        <p className="muted" style={{ margin: 0 }}>
          {t.parametersHelp}
        </p>
        {all.map((p, i) => (
          <One
            key={i}
            parameter={p}
            at={"parameters." + i}
            error={draft.error}
            change={(more) => keep(all.map((x, n) => (n === i ? { ...x, ...more } : x)))}
            remove={() => keep(all.filter((_, n) => n !== i))}
          />
        ))}
        <div>
          <Button
            variant="default"
            leftSection={<IconPlus size={15} />}
            disabled={all.length >= 20}
            onClick={() => keep([...all, { name: "", type: "text", required: true }])}
          >
            {t.addParameter}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function One({
  parameter: p,
  at,
  error,
  change,
  remove,
}: {
  parameter: Parameter;
  at: string;
  error: (field: string) => ReactNode;
  change: (more: Partial<Parameter>) => void;
  remove: () => void;
}) {
  const t = useTexts(texts);
  const title = fill(t.removeParameter, { name: p.name || "?" });
  return (
    <fieldset className="tool" aria-label={p.name || t.parameters}>
      <div style={{ display: "flex", gap: 8, alignItems: "flex-end" }}>
        <TextInput
          style={{ flex: 1 }}
          label={t.name}
          spellCheck={false}
          maxLength={64}
          value={p.name}
          onChange={(e) => change({ name: e.currentTarget.value })}
          error={error(at + ".name")}
        />
        <Select
          style={{ flex: 1 }}
          label={t.type}
          allowDeselect={false}
          data={types.map((value) => ({ value, label: t[value] }))}
          value={p.type}
          onChange={(v) =>
            change({
              type: v as Parameter["type"],
              choices: v === "choice" ? (p.choices ?? []) : undefined,
              pattern: v === "text" ? p.pattern : undefined,
            })
          }
          error={error(at + ".type")}
        />
        <Tooltip label={title}>
          <ActionIcon variant="subtle" color="gray" size={36} aria-label={title} onClick={remove}>
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
      <TextInput
        label={t.description}
        maxLength={1000}
        value={p.description ?? ""}
        onChange={(e) => change({ description: e.currentTarget.value || undefined })}
        error={error(at + ".description")}
      />
      {p.type === "choice" && (
        <TagsInput
          label={t.choices}
          maxTags={100}
          acceptValueOnBlur
          value={p.choices ?? []}
          onChange={(choices) => change({ choices })}
          error={error(at + ".choices")}
        />
      )}
      {p.type === "text" && (
        <TextInput
          label={t.pattern}
          description={t.patternHelp}
          spellCheck={false}
          maxLength={200}
          value={p.pattern ?? ""}
          onChange={(e) => change({ pattern: e.currentTarget.value || undefined })}
          error={error(at + ".pattern")}
        />
      )}
      <Localized
        label={t.question}
        value={p.question}
        change={(question) => change({ question })}
        error={error(at + ".question")}
      />
      <Checkbox
        label={t.required}
        checked={p.required ?? false}
        onChange={(e) => change({ required: e.currentTarget.checked || undefined })}
        error={error(at + ".required")}
      />
    </fieldset>
  );
}
