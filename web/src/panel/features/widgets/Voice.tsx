import { Checkbox, Radio, Switch, Textarea } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useTexts } from "../../i18n";
import type { Agent } from "../agents/types";
import type { Widget } from "./types";
import type { Draft } from "../../ui/draft";
import { Note } from "../../ui/parts";
import { voiceTexts } from "./texts";

const overridable = ["language", "text_only", "first_message", "voice"] as const;
const usual: string[] = ["language", "text_only"]; // where the widget does not say

/** Aloud is what only voice widgets have: what visitors may do beside talking, what they agree to, what a page may change. */
export function Aloud({ draft, agent }: { draft: Draft<Widget>; agent?: Agent }) {
  const t = useTexts(voiceTexts);
  const { value: w, set, error } = draft;
  const allowed = w.overrides ?? usual;
  const deaf = agent && agent.engine !== "elevenlabs" && (agent.voice?.transcriber ?? "none") === "none";
  return (
    <>
      {!w.agent && (
        <Note tone="warn">
          <p>{t.agentNeeded}</p>
        </Note>
      )}
      {agent?.engine === "elevenlabs" && (
        <Note>
          <p>{t.elsewhere}</p>
        </Note>
      )}
      {deaf && (
        <Note>
          <p>
            {t.deaf}{" "}
            <Link to="/agents/$id" params={{ id: agent.id }}>
              {t.change}
            </Link>
          </p>
        </Note>
      )}
      <Radio.Group
        label={t.hearing}
        description={t.hearingHelp}
        value={w.hearing ?? "auto"}
        onChange={(to) => set({ hearing: to as "auto" | "browser" })}
        error={error("hearing")}
      >
        <div className="stack" style={{ gap: 10, marginTop: 6 }}>
          <Radio value="auto" label={t.hearingAuto} description={t.hearingAutoHelp} />
          <Radio value="browser" label={t.hearingBrowser} description={t.hearingBrowserHelp} />
        </div>
      </Radio.Group>
      <Switch
        label={t.textInput}
        description={t.textInputHelp}
        checked={w.text_input !== false}
        onChange={(e) => set({ text_input: e.currentTarget.checked })}
      />
      <Switch
        label={t.transcript}
        description={t.transcriptHelp}
        checked={w.transcript !== false}
        onChange={(e) => set({ transcript: e.currentTarget.checked })}
      />
      <Textarea
        label={t.terms}
        description={t.termsHelp}
        autosize
        minRows={2}
        maxRows={10}
        maxLength={2000}
        value={w.terms ?? ""}
        onChange={(e) => set({ terms: e.currentTarget.value || undefined })}
        error={error("terms")}
      />
      <Checkbox.Group
        label={t.overrides}
        description={t.overridesHelp}
        value={allowed}
        onChange={(to) => set({ overrides: overridable.filter((o) => to.includes(o)) })}
        error={error("overrides")}
      >
        <div className="stack" style={{ gap: 10, marginTop: 6 }}>
          {overridable.map((o) => (
            <Checkbox key={o} value={o} label={t[o]} />
          ))}
        </div>
      </Checkbox.Group>
    </>
  );
}
