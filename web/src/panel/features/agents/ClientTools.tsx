import { ActionIcon, Button, TagsInput, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import type { Agent, ClientTool } from "./types";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { problemOf } from "./schema";
import { voiceTexts } from "./texts";

/** ClientTools are what the page of a voice widget does for the agent. */
export function ClientTools({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(voiceTexts);
  const tools = (draft.value.client_tools ?? []) as ClientTool[];
  const keep = (all: ClientTool[]) => draft.set({ client_tools: all.length ? all : undefined });
  return (
    <Card title={t.tools}>
      <div className="form">
        <p className="muted" style={{ margin: 0 }}>
          {t.toolsHelp}
        </p>
        {tools.map((tool, i) => (
          <Tool
            key={i}
            tool={tool}
            at={"client_tools." + i}
            error={draft.error}
            change={(more) => keep(tools.map((x, n) => (n === i ? { ...x, ...more } : x)))}
            remove={() => keep(tools.filter((_, n) => n !== i))}
          />
        ))}
        <div>
          <Button
            variant="default"
            leftSection={<IconPlus size={15} />}
            disabled={tools.length >= 20}
            onClick={() => keep([...tools, { name: "", description: "" }])}
          >
            {t.addTool}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Tool({
  tool,
  at,
  error,
  change,
  remove,
}: {
  tool: ClientTool;
  at: string;
  error: (field: string) => ReactNode;
  change: (more: Partial<ClientTool>) => void;
  remove: () => void;
}) {
  const t = useTexts(voiceTexts);
  const kept =
    typeof tool.parameters === "string"
      ? tool.parameters
      : tool.parameters
        ? JSON.stringify(tool.parameters, null, 2)
        : "";
  const [text, setText] = useState(kept);
  const problem = problemOf(text);
  const shown = !text.trim() ? undefined : problem ? text : (JSON.parse(text) as Record<string, unknown>);
  if (JSON.stringify(shown) !== JSON.stringify(tool.parameters)) setText(kept); // the changes were discarded
  const write = (to: string) => {
    setText(to);
    // What is no object stays a text, which the server refuses: nothing that is on the screen gets lost in saving.
    change({ parameters: !to.trim() ? undefined : problemOf(to) ? to : (JSON.parse(to) as Record<string, unknown>) });
  };
  const title = fill(t.removeTool, { name: tool.name || "?" });
  return (
    <fieldset className="tool" aria-label={tool.name || t.toolName}>
      <div style={{ display: "flex", gap: 8, alignItems: "flex-end" }}>
        <TextInput
          style={{ flex: 1 }}
          label={t.toolName}
          description={t.toolNameHelp}
          spellCheck={false}
          maxLength={64}
          value={tool.name}
          onChange={(e) => change({ name: e.currentTarget.value })}
          error={error(at + ".name")}
        />
        <Tooltip label={title}>
          <ActionIcon variant="subtle" color="gray" size={36} aria-label={title} onClick={remove}>
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
      <TextInput
        label={t.description}
        description={t.descriptionHelp}
        maxLength={1000}
        value={tool.description}
        onChange={(e) => change({ description: e.currentTarget.value })}
        error={error(at + ".description")}
      />
      <TagsInput
        label={t.phrases}
        description={t.phrasesHelp}
        maxTags={20}
        value={tool.phrases ?? []}
        acceptValueOnBlur
        onChange={(phrases) => change({ phrases: phrases.length ? phrases : undefined })}
        error={error(at + ".phrases")}
      />
      <Textarea
        label={t.parameters}
        description={t.parametersHelp}
        autosize
        minRows={2}
        maxRows={14}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mono)", fontSize: 13 } }}
        placeholder={'{"type": "object", "properties": {"place": {"type": "string"}}}'}
        value={text}
        onChange={(e) => write(e.currentTarget.value)}
        error={problem ? t[problem] : error(at + ".parameters")}
      />
    </fieldset>
  );
}
