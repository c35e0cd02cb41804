import { SegmentedControl } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { onColour } from "../../../shared/colour";
import { useTexts, type Language } from "../../i18n";
import { useCompany } from "../../session";
import { useTheme } from "../../shell/theme";
import type { Widget } from "./types";
import { useList } from "../../ui/resources";
import { logoOf } from "./Logo";
import { widgets } from "./places";
import { texts } from "./texts";
import { VoicePreview } from "./VoicePreview";
import "./preview.css";
import classes from "./widgets.module.css";

/** Preview is how a widget looks with what is not stored yet. */
export function Preview({ widget, language }: { widget: Widget; language: string }) {
  return widget.kind === "voice" ? (
    <VoicePreview widget={widget} language={language} />
  ) : (
    <ChatPreview widget={widget} language={language} />
  );
}

/** samples are a question and its answer in the language of a preview. */
const samples: Record<Language, { visitor: string; agent: string }> = {
  en: { visitor: "Hello! Are you open on Saturdays?", agent: "Yes, from 9 to 2." },
  es: { visitor: "¡Hola! ¿Abren los sábados?", agent: "Sí, de 9 a 14." },
  pt: { visitor: "Olá! Vocês abrem aos sábados?", agent: "Sim, das 9h às 14h." },
};

/** ChatPreview is the chat page itself, in a frame: this page answers it as a customer's would, with the draft, and something said. */
function ChatPreview({ widget: w, language }: { widget: Widget; language: string }) {
  const t = useTexts(texts);
  const company = useCompany();
  const agents = useList("agents");
  const frame = useRef<HTMLIFrameElement>(null);
  const { shown } = useTheme();
  const [chosen, setTheme] = useState<"light" | "dark" | null>(null);
  const [device, setDevice] = useState("desktop");
  const theme = chosen ?? shown;
  const agent = agents.data?.find((a) => a.id === w.agent)?.name ?? "";
  const data = useMemo(() => {
    const welcome = language === w.language ? w.welcome : (w.translations[language] ?? w.welcome);
    const say = samples[language.slice(0, 2) as Language] ?? samples.en;
    const at = new Date().toISOString();
    const said = [
      { author: "visitor", text: say.visitor },
      { author: "agent", text: say.agent },
    ].map((x, i) => ({ ...x, seq: i + 1, kind: "text", at, name: x.author === "agent" ? agent : undefined }));
    return {
      id: w.id,
      name: w.name,
      company_name: company.name,
      language,
      welcome,
      appearance: w.appearance,
      agent: { name: agent },
      texts: w.texts?.[language] ?? {},
      showClose: true,
      talk_to_person: w.talk_to_person !== false,
      starters: w.starters?.[language]?.filter((x) => x.trim()),
      logo: logoOf(w),
      preview: { turns: w.starters?.[language]?.some((x) => x.trim()) ? [] : said, theme },
    };
  }, [w, language, agent, company.name, theme]);

  const current = useRef(data);
  current.current = data;
  const origin = new URL(widgets).origin;
  const tell = (type: string, what: object) => frame.current?.contentWindow?.postMessage({ type, ...what }, origin);
  useEffect(() => {
    const receive = (e: MessageEvent) => {
      if (!frame.current || e.source !== frame.current.contentWindow || e.origin !== origin) return;
      const type = typeof e.data === "string" ? e.data : (e.data as { type?: string } | null)?.type;
      if (type === "get_widget") tell(type, { widgetData: current.current });
      else if (type === "get_customer") tell(type, { customer: { id: "00000000-0000-4000-8000-000000000000" } });
    };
    window.addEventListener("message", receive);
    return () => window.removeEventListener("message", receive);
  }, [origin]);
  useEffect(() => {
    tell("get_widget", { widgetData: data });
  }, [data]);

  const colour = /^#[0-9a-f]{6}$/i.test(w.appearance.primary_color ?? "") ? w.appearance.primary_color! : "#2f5bd7";
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
          aria-label={t.preview}
          value={theme}
          onChange={(v) => setTheme(v)}
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
          <iframe ref={frame} title={t.previewTitle} src={`${widgets}/?cw_id=${w.id}`} tabIndex={-1} />
        </div>
        {device === "desktop" && (
          <div
            className={`launcher ${classes.launcher}`}
            aria-hidden="true"
            style={{ background: colour, color: onColour(colour) }}
          >
            <svg
              viewBox="0 0 24 24"
              width="24"
              height="24"
              fill="none"
              stroke="currentColor"
              strokeWidth="1.9"
              strokeLinejoin="round"
            >
              <path d="M4 5h16v11H10l-4.500 4V16H4z" />
            </svg>
            {w.texts?.[language]?.launcher}
          </div>
        )}
      </div>
    </section>
  );
}
