import { ActionIcon, Button, Select, TagsInput, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { fill, useTexts } from "../../i18n";
import type { Agent, Topic } from "./types";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { reviewTexts } from "../reviews/texts";

const maxTopics = 50;

/** GoalForm is what reviews of the agent's conversations look for. */
export function GoalForm({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(reviewTexts);
  const { value: a, set, error } = draft;
  const topics = a.topics ?? [];
  const keep = (all: Topic[]) => set({ topics: all.length ? all : undefined });
  const change = (i: number, more: Partial<Topic>) => keep(topics.map((x, n) => (n === i ? { ...x, ...more } : x)));
  const names = a.result.map((r) => r.name).filter((name, i, all) => name && all.indexOf(name) === i);
  return (
    <Card title={t.formTitle}>
      <div className="form">
        <p className="small muted" style={{ margin: 0 }}>
          {t.formAbout}
        </p>
        <Textarea
          label={t.formGoal}
          description={t.formGoalHelp}
          autosize
          minRows={1}
          maxLength={500}
          value={a.goal ?? ""}
          error={error("goal")}
          onChange={(e) =>
            set({
              goal: e.currentTarget.value || undefined,
              ...(e.currentTarget.value ? {} : { goal_result: undefined }),
            })
          }
        />
        {a.goal && names.length > 0 && (
          <Select
            label={t.goalResult}
            description={t.goalResultHelp}
            clearable
            checkIconPosition="right"
            data={names}
            value={a.goal_result || null}
            error={error("goal_result")}
            onChange={(name) => set({ goal_result: name ?? undefined })}
          />
        )}
        <div>
          <div className="field-label">{t.formTopics}</div>
          <p className="small muted" style={{ margin: 0 }}>
            {t.formTopicsHelp}
          </p>
        </div>
        {topics.map((topic, i) => (
          <fieldset key={i} className="tool" aria-label={topic.name || fill(t.topic, { n: i + 1 })}>
            <div style={{ display: "flex", gap: 8, alignItems: "flex-end" }}>
              <TextInput
                style={{ flex: 1 }}
                label={t.topicName}
                maxLength={60}
                value={topic.name}
                error={error(`topics.${i}.name`)}
                onChange={(e) => change(i, { name: e.currentTarget.value })}
              />
              <Remove
                text={fill(t.removeTopic, { name: topic.name || i + 1 })}
                act={() => keep(topics.filter((_, n) => n !== i))}
              />
            </div>
            <TagsInput
              label={t.topicWords}
              description={t.topicWordsHelp}
              maxTags={50}
              value={topic.words ?? []}
              acceptValueOnBlur
              error={error(`topics.${i}.words`)}
              onChange={(words) => change(i, { words: words.length ? words : undefined })}
            />
          </fieldset>
        ))}
        <div>
          <Button
            variant="default"
            leftSection={<IconPlus size={15} />}
            disabled={topics.length >= maxTopics}
            onClick={() => keep([...topics, { name: "" }])}
          >
            {t.addTopic}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Remove({ text, act }: { text: string; act: () => void }) {
  return (
    <Tooltip label={text}>
      <ActionIcon variant="subtle" color="gray" size={36} aria-label={text} onClick={act}>
        <IconTrash size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
