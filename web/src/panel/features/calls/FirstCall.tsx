import { Button } from "@mantine/core";
import { IconKey, IconPhone, IconRobot } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { post } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Card, Empty, Note, Snippet } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { base } from "../widgets/places";
import { useNames } from "./names";
import { pageTexts, texts } from "./texts";

/** FirstCall says how to place a call where there is none yet. */
export function FirstCall() {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const can = useCan();
  const company = useCompany();
  const client = useQueryClient();
  const { agents, lines, ready } = useNames();
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const agent = agents[0];
  const line = lines.find((l) => l.provider === "sandbox") ?? lines[0];
  if (!ready) return null;
  if (!agent || !line) {
    return (
      <Card flush label={t.title}>
        <Empty icon={<IconPhone size={22} />} title={p.first} text={agent ? p.needLine : p.needAgent}>
          {agent ? (
            <Button component={Link} to="/lines" leftSection={<IconPhone size={16} />}>
              {p.addLine}
            </Button>
          ) : (
            <Button component={Link} to="/agents" leftSection={<IconRobot size={16} />}>
              {p.addAgent}
            </Button>
          )}
        </Empty>
      </Card>
    );
  }
  const make = async () => {
    setBusy(true);
    try {
      setKey((await post("/keys", { label: p.call, scopes: ["voice:send", "notify:read"] })).key ?? "");
      void client.invalidateQueries({ queryKey: [company.id, "keys"] });
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const body = {
    contact: { number: "34600000018", first_name: "Ana" },
    recipient_id: line.id,
    agent_id: agent.id,
    notification_type: "transactional",
    campaign_name: "first calls",
  };
  const command = `curl '${base}/functions/v1/notify/voice?access_key=${key || "ACCESS_KEY"}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`;
  return (
    <Card flush label={t.title}>
      <Empty icon={<IconPhone size={22} />} title={p.first} text={p.firstText}>
        <div className="calls-first">
          <Snippet code={command} label={p.copyCurl} />
          {line.provider !== "sandbox" && (
            <Note tone="warn">
              <p>{p.realLine}</p>
            </Note>
          )}
          {key ? (
            <Note tone="warn">
              <p>{p.keyMade}</p>
            </Note>
          ) : (
            <Note>
              <p>{p.keyHelp}</p>
            </Note>
          )}
          <div className="calls-first-actions">
            {can("notifications:send") && (
              <Button
                leftSection={<IconPhone size={16} />}
                renderRoot={(props) => (
                  <Link to="/send" search={{ tab: "call", number: body.contact.number, name: "Ana" }} {...props} />
                )}
              >
                {p.placeHere}
              </Button>
            )}
            {!key && can("keys:write") && (
              <Button variant="default" leftSection={<IconKey size={16} />} loading={busy} onClick={() => void make()}>
                {p.makeKey}
              </Button>
            )}
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/agents/$id" params={{ id: agent.id }} {...props} />}
              leftSection={<IconRobot size={16} />}
            >
              {fill(p.openAgent, { name: agent.name })}
            </Button>
          </div>
        </div>
      </Empty>
    </Card>
  );
}
