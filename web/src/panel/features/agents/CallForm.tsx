import type { ReactNode } from "react";
import { ActionIcon, Button, Select, Switch, TagsInput, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconArrowUp, IconPlus, IconTrash } from "@tabler/icons-react";
import { fill, useTexts } from "../../i18n";
import type { Agent, Result } from "./types";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { callTexts } from "./texts";
import { withoutResult, withResult } from "./results";
import { TransferFields } from "./TransferFields";

const types: Result["type"][] = ["text", "number", "boolean", "choice"];
const maxResults = 50;

/** CallForm is what an agent finds out in calls, and what it leaves on answering machines. */
export function CallForm({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(callTexts);
  const { value: a, set, error } = draft;
  const keep = (result: Result[]) => set({ result });
  const up = (i: number) => keep(a.result.map((r, n) => (n === i - 1 ? a.result[i]! : n === i ? a.result[i - 1]! : r)));
  return (
    <Card title={t.title}>
      <div className="form">
        <TransferFields draft={draft} />
        <Textarea
          label={t.voicemail}
          description={t.voicemailHelp}
          autosize
          minRows={2}
          value={a.voicemail ?? ""}
          onChange={(e) => set({ voicemail: e.currentTarget.value || undefined })}
          error={error("voicemail")}
        />
        <TextInput
          label={t.purpose}
          description={t.purposeHelp}
          value={a.purpose ?? ""}
          maxLength={100}
          onChange={(e) => set({ purpose: e.currentTarget.value || undefined })}
          error={error("purpose")}
        />
        <TextInput
          label={t.menuKeys}
          description={t.menuKeysHelp}
          value={a.menu_keys ?? ""}
          maxLength={20}
          onChange={(e) => set({ menu_keys: e.currentTarget.value || undefined })}
          error={error("menu_keys")}
        />
        <div>
          <div className="field-label">{t.result}</div>
          <p className="small muted" style={{ margin: 0 }}>
            {t.about}
          </p>
        </div>
        {a.result.map((r, i) => (
          <Field
            key={i}
            n={i + 1}
            field={r}
            at={"result." + i}
            error={error}
            up={i > 0 ? () => up(i) : undefined}
            change={(more) => set(withResult(a, i, more))}
            remove={() => set(withoutResult(a, i))}
          />
        ))}
        {a.result.some((r) => r.question) && (
          <Switch
            label={t.askCallers}
            description={t.askCallersHelp}
            checked={a.ask_callers ?? false}
            onChange={(e) => set({ ask_callers: e.currentTarget.checked || undefined })}
          />
        )}
        <div>
          <Button
            variant="default"
            leftSection={<IconPlus size={15} />}
            disabled={a.result.length >= maxResults}
            onClick={() => keep([...a.result, { name: "", type: "text" }])}
          >
            {t.add}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Field({
  n,
  field: r,
  at,
  error,
  up,
  change,
  remove,
}: {
  n: number;
  field: Result;
  at: string;
  error: (field: string) => ReactNode;
  up?: () => void;
  change: (more: Partial<Result>) => void;
  remove: () => void;
}) {
  const t = useTexts(callTexts);
  const name = r.name || fill(t.field, { n });
  const icon = (text: string, Icon: typeof IconTrash, act: () => void) => (
    <Tooltip label={text}>
      <ActionIcon variant="subtle" color="gray" size={36} aria-label={text} onClick={act}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
  return (
    <fieldset className="tool" aria-label={name}>
      <div style={{ display: "flex", gap: 8, alignItems: "flex-end" }}>
        <TextInput
          style={{ flex: 1 }}
          label={t.name}
          description={t.nameHelp}
          spellCheck={false}
          maxLength={64}
          value={r.name}
          onChange={(e) => change({ name: e.currentTarget.value })}
          error={error(at + ".name")}
        />
        {up && icon(fill(t.up, { name }), IconArrowUp, up)}
        {icon(fill(t.remove, { name }), IconTrash, remove)}
      </div>
      <Select
        label={t.type}
        allowDeselect={false}
        data={types.map((x) => ({ value: x, label: t[x] }))}
        value={r.type}
        error={error(at + ".type")}
        onChange={(to) => change({ type: to ?? r.type, choices: to === "choice" ? (r.choices ?? []) : undefined })}
      />
      {r.type === "choice" && (
        <TagsInput
          label={t.choices}
          description={t.choicesHelp}
          maxTags={100}
          value={r.choices ?? []}
          acceptValueOnBlur
          onChange={(choices) => change({ choices })}
          error={error(at + ".choices")}
        />
      )}
      <TextInput
        label={t.question}
        description={t.questionHelp}
        value={r.question ?? ""}
        onChange={(e) => change({ question: e.currentTarget.value || undefined })}
        error={error(at + ".question")}
      />
      <TextInput
        label={t.description}
        description={t.descriptionHelp}
        maxLength={500}
        value={r.description ?? ""}
        onChange={(e) => change({ description: e.currentTarget.value || undefined })}
        error={error(at + ".description")}
      />
    </fieldset>
  );
}
