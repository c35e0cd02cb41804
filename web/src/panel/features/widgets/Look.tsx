import { Button, Select, TextInput } from "@mantine/core";
import { contrast, darker, onColour } from "../../../shared/colour";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import type { Widget } from "./types";
import type { Draft } from "../../ui/draft";
import { Note } from "../../ui/parts";
import { Logo } from "./Logo";
import { texts, voiceTexts } from "./texts";

const corners = ["bottom-right", "bottom-left", "top-right", "top-left"] as const;
const swatches = ["#2f5bd7", "#0b5c8e", "#0b6e4f", "#7a3fb0", "#b3261e", "#a34b00", "#1d1c1a"];

const valid = (colour?: string): colour is string => /^#[0-9a-f]{6}$/i.test(colour ?? "");

/** Look is what the widget looks like. */
export function Look({ draft }: { draft: Draft<Widget> }) {
  const t = useTexts(texts);
  const v = useTexts(voiceTexts);
  const { value: w, set, error } = draft;
  const voice = w.kind === "voice";
  const look = (change: Partial<Widget["appearance"]>) => set({ appearance: { ...w.appearance, ...change } });
  return (
    <div className="form">
      <TextInput
        label={t.name}
        description={voice ? v.nameHelp : t.nameHelp}
        maxLength={255}
        value={w.name}
        onChange={(e) => set({ name: e.currentTarget.value })}
        error={error("name")}
      />
      {!voice && (
        <TextInput
          label={t.heading}
          description={t.headingHelp}
          value={w.appearance.title ?? ""}
          onChange={(e) => look({ title: e.currentTarget.value || undefined })}
          error={error("appearance.title")}
        />
      )}
      <div>
        <TextInput
          label={t.colour}
          description={voice ? v.colourHelp : t.colourHelp}
          value={w.appearance.primary_color ?? ""}
          maxLength={7}
          spellCheck={false}
          placeholder="#2f5bd7"
          leftSection={
            <input
              type="color"
              className="colour-well"
              aria-label={t.pick}
              value={valid(w.appearance.primary_color) ? w.appearance.primary_color : "#2f5bd7"}
              onChange={(e) => look({ primary_color: e.currentTarget.value })}
            />
          }
          onChange={(e) => look({ primary_color: e.currentTarget.value.trim() || undefined })}
          error={error("appearance.primary_color")}
        />
        <div className="tags" role="group" aria-label={t.colour} style={{ marginTop: 8, gap: 8 }}>
          {swatches.map((c) => (
            <button
              key={c}
              type="button"
              className="swatch-button"
              style={{ background: c }}
              aria-label={c}
              aria-pressed={w.appearance.primary_color === c}
              onClick={() => look({ primary_color: c })}
            />
          ))}
        </div>
        <Warnings colour={w.appearance.primary_color ?? ""} use={(primary_color) => look({ primary_color })} />
      </div>
      <Logo
        digest={w.appearance.logo}
        set={(logo) => look({ logo })}
        error={error("appearance.logo") as string | undefined}
      />
      <Select
        label={t.corner}
        allowDeselect={false}
        value={w.appearance.position || "bottom-right"}
        onChange={(to) => look({ position: to ?? undefined })}
        data={corners.map((c) => ({ value: c, label: t[c] }))}
      />
      {voice && (
        <Select
          label={v.animation}
          description={v.animationHelp}
          allowDeselect={false}
          value={w.appearance.animation ? "pulse" : ""} // the button has one; any other word stands for it
          onChange={(to) => look({ animation: to || undefined })}
          error={error("appearance.animation")}
          data={[
            { value: "", label: v.none },
            { value: "pulse", label: v.pulse },
          ]}
        />
      )}
    </div>
  );
}

/** Warnings say what a colour is not good for. */
function Warnings({ colour, use }: { colour: string; use: (colour: string) => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  if (!valid(colour)) return null;
  const text = contrast(colour, onColour(colour));
  const page = contrast(colour, "#ffffff");
  const said =
    text < 4.5
      ? fill(t.hard, { n: number(Math.floor(text * 10) / 10, language) })
      : page < 3
        ? fill(t.pale, { n: number(Math.floor(page * 10) / 10, language) })
        : "";
  if (!said) return null;
  const better = darker(colour);
  return (
    <div style={{ marginTop: 8 }}>
      <Note tone="warn">
        <p>{said}</p>
        <Button variant="subtle" size="compact-sm" ml={-8} onClick={() => use(better)}>
          {fill(t.useDarker, { colour: better })}
        </Button>
      </Note>
    </div>
  );
}
