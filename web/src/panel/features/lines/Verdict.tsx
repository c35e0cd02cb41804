import { English } from "../../ui/English";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import type { TestEnd } from "./types";
import { Note } from "../../ui/parts";
import { type TestText, testTexts } from "./texts";

interface Found {
  title: TestText;
  text?: TestText;
  tone: "ok" | "warn" | "danger";
}

/** found is what a test call found out. A call that only the person ended shows that the line works. */
export function found(end: TestEnd): Found {
  switch (end.problem) {
    case "":
      return { title: "well", text: end.loud ? "wellText" : "wellQuiet", tone: "ok" };
    case "busy":
    case "unanswered":
    case "declined":
      return { title: end.problem, text: "works", tone: "ok" };
    case "cut":
      return { title: "cut", text: "cutText", tone: "warn" };
    case "canceled":
      return { title: "canceled", tone: "warn" };
    case "number":
      return { title: "numberWrong", text: "numberText", tone: "danger" };
    case "settings":
      return { title: "settings", tone: "danger" };
    case "unreachable":
    case "denied":
    case "encryption":
    case "password":
    case "forbidden":
    case "sound":
    case "silent":
    case "fault":
      return { title: end.problem, text: `${end.problem}Text`, tone: "danger" };
    default:
      return { title: "refused", text: "refusedText", tone: "danger" };
  }
}

/** Verdict says at the end what is wrong, and what to do about it. */
export function Verdict({ end }: { end: TestEnd | "lost" }) {
  const t = useTexts(testTexts);
  const language = useLanguage();
  if (end === "lost")
    return (
      <div className="line-verdict">
        <Note tone="danger">{t.lost}</Note>
      </div>
    );
  const f = found(end);
  const values = {
    s: number(Math.round(end.talked_ms / 100) / 10, language),
    n: number(end.packets, language),
    detail: end.detail,
  };
  return (
    <div className="line-verdict" role="status">
      <Note tone={f.tone}>
        <p>
          <b>{t[f.title]}</b>
        </p>
        {f.text && <p>{fill(t[f.text], values)}</p>}
        {f.tone === "danger" && end.code > 0 && (
          <p className="small mono">
            <English>{end.detail}</English>
          </p>
        )}
      </Note>
    </div>
  );
}
