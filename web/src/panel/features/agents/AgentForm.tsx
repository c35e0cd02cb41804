import "@mantine/core/styles/Radio.css";
import { Checkbox, PasswordInput, Radio, Switch, Textarea, TextInput } from "@mantine/core";
import { useTexts } from "../../i18n";
import type { Agent } from "./types";
import type { Draft } from "../../ui/draft";
import { LanguageField } from "../../ui/LanguageField";
import { Card, Note } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { Several } from "../../ui/Several";
import { texts as toolTexts } from "../tools/texts";
import { CallForm } from "./CallForm";
import { ClientTools } from "./ClientTools";
import { GoalForm } from "./GoalForm";
import type { Section } from "./sections";
import { texts, voiceTexts } from "./texts";
import { VoiceForm } from "./VoiceForm";

const engines = ["builtin", "openai", "elevenlabs"] as const;
const tools = ["search", "handoff", "hang_up"] as const;

/** AgentForm is a tab of an agent's settings. */
export function AgentForm({ draft, section }: { draft: Draft<Agent>; section: Section }) {
  const elsewhere = draft.value.engine === "elevenlabs";
  switch (section) {
    case "settings":
      return <General draft={draft} />;
    case "voice":
      return <VoiceForm draft={draft} />;
    case "tools":
      return (
        <div className="stack">
          <ServerTools draft={draft} />
          {!elsewhere && <ClientTools draft={draft} />}
        </div>
      );
    case "calls":
      return <CallForm draft={draft} />;
    case "review":
      return <GoalForm draft={draft} />;
  }
}

/** General is who an agent is, what it answers from and what with. */
function General({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(texts);
  const { value: a, set, error } = draft;
  const bases = useList("knowledge");
  return (
    <div className="stack">
      <Card label={t.name}>
        <div className="form">
          <TextInput
            label={t.name}
            description={t.nameHelp}
            maxLength={255}
            value={a.name}
            onChange={(e) => set({ name: e.currentTarget.value })}
            error={error("name")}
          />
          <LanguageField
            label={t.language}
            description={t.languageHelp}
            value={a.language}
            onChange={(language) => set({ language })}
            error={error("language")}
          />
          <Textarea
            label={t.persona}
            description={t.personaHelp}
            autosize
            minRows={3}
            maxRows={12}
            maxLength={4000}
            value={a.persona ?? ""}
            onChange={(e) => set({ persona: e.currentTarget.value || undefined })}
            error={error("persona")}
          />
          <Several
            searchable
            label={t.knowledge}
            description={bases.data?.length === 0 ? t.noKnowledge : t.knowledgeHelp}
            data={[...new Set([...(bases.data ?? []).map((b) => b.id), ...a.knowledge])]}
            value={a.knowledge}
            onChange={(knowledge) => set({ knowledge })}
            error={error("knowledge")}
          />
        </div>
      </Card>
      <Card title={t.engine}>
        <div className="form">
          <Radio.Group
            aria-label={t.engine}
            value={a.engine}
            onChange={(v) => set({ engine: v })}
            error={error("engine")}
          >
            <div className="stack" style={{ gap: 12 }}>
              {engines.map((e) => (
                <Radio key={e} value={e} label={t[e]} description={t[`${e}Help`]} />
              ))}
            </div>
          </Radio.Group>
          {a.engine === "openai" && <Server draft={draft} />}
          {a.engine === "elevenlabs" && <Elsewhere draft={draft} />}
        </div>
      </Card>
      <Card title={t.abilities}>
        <div className="form">
          {tools.map((tool) => (
            <Checkbox
              key={tool}
              label={t[tool]}
              checked={a.tools.includes(tool)}
              onChange={(e) =>
                set({ tools: tools.filter((x) => (x === tool ? e.currentTarget.checked : a.tools.includes(x))) })
              }
            />
          ))}
          <Switch
            label={t.record}
            description={t.recordHelp}
            checked={a.record}
            onChange={(e) => set({ record: e.currentTarget.checked })}
          />
          <Textarea
            label={t.greeting}
            description={t.greetingHelp}
            autosize
            minRows={2}
            value={a.greeting}
            onChange={(e) => set({ greeting: e.currentTarget.value })}
            error={error("greeting")}
          />
        </div>
      </Card>
    </div>
  );
}

/** ServerTools chooses the tools at servers that the agent may call. */
function ServerTools({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(toolTexts);
  const list = useList("tools");
  const chosen = draft.value.server_tools ?? [];
  const known = (list.data ?? []).map((x) => ({ value: x.id, label: x.name }));
  const others = chosen.filter((id) => !known.some((x) => x.value === id));
  return (
    <Card title={t.agentTools}>
      <Several
        searchable
        aria-label={t.agentTools}
        description={list.data?.length === 0 ? t.noTools : t.agentToolsHelp}
        data={[...known, ...others.map((id) => ({ value: id, label: id }))]}
        maxValues={20}
        value={chosen}
        onChange={(all) => draft.set({ server_tools: all.length ? all : undefined })}
        error={draft.error("server_tools")}
      />
    </Card>
  );
}

/** Elsewhere is the agent of an ElevenLabs account. */
function Elsewhere({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(voiceTexts);
  const { value: a, set, error } = draft;
  const e = a.elevenlabs ?? { agent_id: "" };
  const change = (more: Partial<NonNullable<Agent["elevenlabs"]>>) => set({ elevenlabs: { ...e, ...more } });
  return (
    <>
      <Note>
        <p>{t.elevenNote}</p>
      </Note>
      <TextInput
        label={t.elevenAgent}
        description={t.elevenAgentHelp}
        spellCheck={false}
        value={e.agent_id}
        onChange={(x) => change({ agent_id: x.currentTarget.value })}
        error={error("elevenlabs.agent_id")}
      />
      <PasswordInput
        label={t.elevenKey}
        description={t.elevenKeyHelp}
        autoComplete="off"
        visibilityToggleButtonProps={{ "aria-label": t.elevenKey }}
        value={e.api_key ?? ""}
        onChange={(x) => change({ api_key: x.currentTarget.value || undefined })}
        error={error("elevenlabs.api_key")}
      />
      <TextInput
        label={t.elevenAddress}
        description={t.elevenAddressHelp}
        type="url"
        spellCheck={false}
        value={e.base_url ?? ""}
        onChange={(x) => change({ base_url: x.currentTarget.value || undefined })}
        error={error("elevenlabs.base_url")}
      />
    </>
  );
}

/** Server is where a language model answers. */
function Server({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(texts);
  const { value: a, set, error } = draft;
  const o = a.openai ?? { base_url: "", model: "" };
  const change = (more: Partial<NonNullable<Agent["openai"]>>) => set({ openai: { ...o, ...more } });
  return (
    <>
      <TextInput
        label={t.baseUrl}
        description={t.baseUrlHelp}
        type="url"
        spellCheck={false}
        value={o.base_url}
        onChange={(e) => change({ base_url: e.currentTarget.value })}
        error={error("openai.base_url")}
      />
      <div className="pair">
        <TextInput
          label={t.model}
          description=" "
          spellCheck={false}
          value={o.model}
          onChange={(e) => change({ model: e.currentTarget.value })}
          error={error("openai.model")}
        />
        <TextInput
          label={t.temperature}
          description={t.temperatureHelp}
          type="number"
          min={0}
          max={2}
          step={0.1}
          value={o.temperature ?? ""}
          onChange={(e) =>
            change({ temperature: e.currentTarget.value === "" ? undefined : Number(e.currentTarget.value) })
          }
          error={error("openai.temperature")}
        />
      </div>
      <PasswordInput
        label={t.apiKey}
        description={t.apiKeyHelp}
        autoComplete="off"
        visibilityToggleButtonProps={{ "aria-label": t.apiKey }}
        value={o.api_key ?? ""}
        onChange={(e) => change({ api_key: e.currentTarget.value || undefined })}
        error={error("openai.api_key")}
      />
    </>
  );
}
