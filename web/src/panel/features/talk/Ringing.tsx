import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { IconBellOff, IconMessage, IconPhone, IconPhoneIncoming } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { post, Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import { writing } from "../../ui/keys";
import { failed } from "../../ui/problem";
import { startCall } from "./current";
import { waited, type Ring } from "./rings";
import { problem } from "./say";
import { texts } from "./texts";

/** Ringing are the visitors who wait on the line, in a corner of every page. */
export function Ringing({
  list,
  show,
  silence,
}: {
  list: Ring[];
  show: (id: string, mine?: boolean) => void;
  silence: (id: string) => void;
}) {
  const t = useTexts(texts);
  const [now, tick] = useState(Date.now);
  useEffect(() => {
    const i = setInterval(() => tick(Date.now()), 1000);
    return () => clearInterval(i);
  }, []);
  const answer = (r: Ring) => {
    show(r.id, true);
    void startCall({ id: r.id, name: r.name, agent: r.agent, from: "" });
  };
  const write = async (r: Ring) => {
    silence(r.id);
    show(r.id, true);
    try {
      await post(`/conversations/${r.id}/take`, { from: "" });
    } catch (e) {
      if (e instanceof Problem && e.status === 409)
        problem(fill(t.wasTaken, { name: e.detail("assignee_name") || t.someone }));
      else failed(e);
    }
  };
  const first = list[0];
  useEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (
        e.key !== "v" ||
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        writing(e.target) ||
        !first ||
        document.querySelector("[role=dialog], [role=menu]")
      )
        return;
      e.preventDefault();
      e.stopImmediatePropagation(); // the inbox has the same key for the conversation that is open
      answer(first);
    };
    window.addEventListener("keydown", keys, true);
    return () => window.removeEventListener("keydown", keys, true);
  }, [first?.id]);
  return (
    <section className="rings" aria-label={t.ringing}>
      {list.map((r) => (
        <div key={r.id} className="ring" data-id={r.id}>
          <div className="ring-who">
            <span className="ring-mark" aria-hidden="true">
              <i />
              <IconPhoneIncoming size={22} stroke={1.8} />
            </span>
            <p role="alert">
              <b>{fill(t.calls, { name: r.name })}</b>
            </p>
            <Tooltip label={t.quiet}>
              <ActionIcon variant="subtle" color="gray" aria-label={t.quiet} onClick={() => silence(r.id)}>
                <IconBellOff size={17} />
              </ActionIcon>
            </Tooltip>
            <small className="muted">{fill(t.asks, { time: waited(now - Date.parse(r.since)) })}</small>
          </div>
          <div className="ring-answers">
            <Tooltip label="V" disabled={r !== first}>
              <Button color="green" leftSection={<IconPhone size={16} />} onClick={() => answer(r)}>
                {t.answerVoice}
              </Button>
            </Tooltip>
            <Button variant="default" leftSection={<IconMessage size={16} />} onClick={() => void write(r)}>
              {t.answerText}
            </Button>
          </div>
        </div>
      ))}
    </section>
  );
}
