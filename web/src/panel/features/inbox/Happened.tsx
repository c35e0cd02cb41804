import { Told } from "../../ui/Told";
import { IconRoute } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { absolute } from "../../format";
import { fill, useTexts } from "../../i18n";
import { texts as toolTexts } from "../tools/texts";
import type { InboxTexts } from "./texts";
import type { Turn } from "./types";

/** The agent's reason where the visitor's own words, which stand above, asked for a person. */
const askedByPhrase = "asked for a person";

/** Happened is a turn that nobody said. */
export function Happened({ turn, t, language }: { turn: Turn; t: InboxTexts; language: string }) {
  const calls = turn.event === "call_permission";
  const key = calls
    ? turn.text === "accept"
      ? "event_calls_allowed"
      : "event_calls_refused"
    : turn.event === "resolved" && !turn.name
      ? "event_resolved_agent"
      : turn.event === "reacted" && !turn.text
        ? "event_reacted_back"
        : turn.event === "scored"
          ? turn.text === "like"
            ? "event_scored_like"
            : turn.text === "dislike"
              ? "event_scored_dislike"
              : "event_scored"
          : turn.event === "handoff_requested" && turn.run
            ? turn.text
              ? "event_handoff_flow"
              : "event_handoff_failed"
            : `event_${turn.event}`;
  if (turn.event === "tool_called") return <Called turn={turn} language={language} />;
  const text = (turn.phone_app && t[`${key}_app` as keyof InboxTexts]) || t[key as keyof InboxTexts];
  if (!text) return null;
  const why = turn.why && t[`why_${turn.why}` as keyof InboxTexts];
  return (
    <p className="inbox-event" title={absolute(turn.at, language)}>
      {fill(text, { name: turn.name || t.someone, n: turn.rating ?? 0 })}
      {why && `: ${why}`}
      {turn.run && (turn.event === "flow_began" || !turn.text) ? (
        <Link className="inbox-run" to="/flows/runs/$id" params={{ id: turn.run }}>
          <IconRoute size={14} aria-hidden />
          {turn.text || t.seeRun}
        </Link>
      ) : (
        turn.text && !calls && turn.event !== "scored" && turn.text !== askedByPhrase && <q>{turn.text}</q>
      )}
      {turn.about && <span className="inbox-about">{turn.about}</span>}
    </p>
  );
}

/** Called is the note of the agent's calls of tools, which the visitor does not see. */
function Called({ turn, language }: { turn: Turn; language: string }) {
  const t = useTexts(toolTexts);
  return (
    <>
      {turn.tools?.map((x, i) => (
        <p key={i} className="inbox-event" title={absolute(turn.at, language)}>
          {fill(t.called, { tool: x.tool })} · {t[`status_${x.status}`]} · {fill(t.took, { n: x.ms })}
          {x.reason && (
            <>
              : <Told text={x.reason} />
            </>
          )}
          {x.arguments && x.arguments !== "{}" && <span className="inbox-about">{x.arguments}</span>}
        </p>
      ))}
    </>
  );
}
