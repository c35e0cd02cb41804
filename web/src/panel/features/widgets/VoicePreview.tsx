import { SegmentedControl } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { onColour } from "../../../shared/colour";
import { useTexts } from "../../i18n";
import { useTheme } from "../../shell/theme";
import type { Widget } from "./types";
import { useList } from "../../ui/resources";
import { logoOf } from "./Logo";
import { widgets } from "./places";
import { texts, voiceTexts } from "./texts";
import classes from "./widgets.module.css";

/** VoicePreview is the voice page itself, in a frame: this page answers it as a customer's would, with the draft. Nobody can talk with it. */
export function VoicePreview({ widget: w, language }: { widget: Widget; language: string }) {
  const t = useTexts(texts);
  const v = useTexts(voiceTexts);
  const agents = useList("agents");
  const frame = useRef<HTMLIFrameElement>(null);
  const { shown } = useTheme();
  const [chosen, setTheme] = useState<"light" | "dark" | null>(null);
  const [device, setDevice] = useState("desktop");
  const [screen, setScreen] = useState("start");
  const theme = chosen ?? shown;
  const agent = agents.data?.find((a) => a.id === w.agent);
  const primary = /^#[0-9a-f]{6}$/i.test(w.appearance.primary_color ?? "") ? w.appearance.primary_color! : "#2f5bd7";
  const data = useMemo(
    () => ({
      widget_id: w.id,
      name: w.name,
      colors: { primary, on_primary: onColour(primary), background: "#ffffff", text: "#1d1c1a" },
      position: w.appearance.position || "bottom-right",
      animation: w.appearance.animation ?? "",
      language,
      languages: [w.language, ...Object.keys(w.translations).filter((l) => l !== w.language)],
      agent: { name: agent?.name ?? "" },
      welcome: language === w.language ? w.welcome : (w.translations[language] ?? w.welcome),
      texts: w.texts?.[language] ?? {},
      text_input: w.text_input !== false,
      transcript: w.transcript !== false,
      terms: w.terms || undefined,
      speech: true,
      hearing: agent?.engine === "elevenlabs" || (agent?.voice?.transcriber ?? "none") !== "none",
      browser_hearing: w.hearing === "browser" ? ("service" as const) : ("device" as const),
      talk_to_person: w.talk_to_person !== false,
      logo: logoOf(w),
      preview: { theme, screen },
    }),
    [w, language, agent, primary, theme, screen],
  );

  const current = useRef(data);
  current.current = data;
  const origin = new URL(widgets).origin;
  const say = (type: string, what: object) => frame.current?.contentWindow?.postMessage({ type, ...what }, origin);
  useEffect(() => {
    const receive = (e: MessageEvent) => {
      if (!frame.current || e.source !== frame.current.contentWindow || e.origin !== origin) return;
      const type = typeof e.data === "string" ? e.data : (e.data as { type?: string } | null)?.type;
      if (type === "get_widget") say(type, { widgetData: current.current });
      else if (type === "get_customer")
        say(type, {
          customer: { id: "00000000-0000-4000-8000-000000000000", access_key: "", language: current.current.language },
        });
    };
    window.addEventListener("message", receive);
    return () => window.removeEventListener("message", receive);
  }, [origin]);
  useEffect(() => {
    say("get_widget", { widgetData: data });
  }, [data]);

  return (
    <section className="preview" aria-label={t.preview}>
      <h2 className="hidden">{t.preview}</h2>
      <div className="preview-bar">
        <SegmentedControl
          size="xs"
          aria-label={t.preview}
          value={device}
          onChange={setDevice}
          data={[
            { value: "desktop", label: t.desktop },
            { value: "phone", label: t.phone },
          ]}
        />
        <SegmentedControl
          size="xs"
          aria-label={v.screen}
          value={screen}
          onChange={setScreen}
          data={[
            { value: "start", label: v.before },
            { value: "talk", label: v.during },
            { value: "ended", label: v.after },
          ]}
        />
        <SegmentedControl
          size="xs"
          aria-label={t.preview}
          value={theme}
          onChange={(to) => setTheme(to)}
          data={[
            { value: "light", label: t.light },
            { value: "dark", label: t.dark },
          ]}
        />
      </div>
      <div className={`stage ${device} ${w.appearance.position || "bottom-right"}`} data-stage={theme}>
        <div className="mock" aria-hidden="true">
          <i />
          <i />
          <i />
          <i />
        </div>
        <div className="chat-frame">
          <iframe ref={frame} title={v.previewTitle} src={`${widgets}/?vw_id=${w.id}`} tabIndex={-1} />
        </div>
        {device === "desktop" && (
          <div
            className={`launcher ${classes.launcher}`}
            aria-hidden="true"
            key={w.appearance.animation ?? ""}
            data-animation={w.appearance.animation && w.appearance.animation !== "none" ? "yes" : undefined}
            style={{ background: primary, color: onColour(primary) }}
          >
            <svg
              viewBox="0 0 24 24"
              width="24"
              height="24"
              fill="none"
              stroke="currentColor"
              strokeWidth="2"
              strokeLinecap="round"
            >
              <path d="M4 10v4M8 7v10M12 4v16M16 8v8M20 10v4" />
            </svg>
            {w.texts?.[language]?.launcher}
          </div>
        )}
      </div>
    </section>
  );
}
