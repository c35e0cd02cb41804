import { PasswordInput, Select, Switch, TextInput } from "@mantine/core";
import { useTexts } from "../../i18n";
import type { LineSettings, Sender } from "./types";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { TransportField } from "./TransportField";
import { compose, parse, seconds } from "./trunk";
import { texts } from "./texts";

/** LineForm is how a line is reached, who answers on it, and its limits. */
export function LineForm({ draft, stored, can }: { draft: Draft<Sender>; stored: Sender; can: boolean }) {
  const t = useTexts(texts);
  const { value: l, set, error } = draft;
  const whole = (text: string) => (text === "" ? undefined : Math.trunc(Number(text)));
  return (
    <div className="stack">
      <Card label={t.line}>
        <div className="form">
          <TextInput
            label={t.number}
            description={t.numberHelp}
            inputMode="numeric"
            autoComplete="off"
            value={l.number}
            onChange={(e) => set({ number: e.currentTarget.value })}
            error={error("number")}
          />
          <Switch
            label={t.standardLine}
            checked={l.default ?? false}
            onChange={(e) => set({ default: e.currentTarget.checked })}
          />
        </div>
      </Card>
      {l.provider === "sip" && <TrunkCard draft={draft} stored={stored} can={can} />}
      {l.provider === "sip" && <IncomingCard draft={draft} can={can} />}
      <Card title={t.limits}>
        <div className="form">
          <div className="pair">
            <TextInput
              label={t.most}
              description={t.mostHelp}
              type="number"
              min={0}
              value={l.max_concurrent ?? ""}
              onChange={(e) => set({ max_concurrent: whole(e.currentTarget.value) })}
              error={error("max_concurrent")}
            />
            <TextInput
              label={t.ring}
              description={t.ringHelp}
              type="number"
              min={5}
              max={120}
              value={l.ring_timeout ? seconds(l.ring_timeout) : ""}
              onChange={(e) =>
                set({ ring_timeout: e.currentTarget.value === "" ? undefined : e.currentTarget.value + "s" })
              }
              error={error("ring_timeout")}
            />
          </div>
        </div>
      </Card>
    </div>
  );
}

function TrunkCard({ draft, stored, can }: { draft: Draft<Sender>; stored: Sender; can: boolean }) {
  const t = useTexts(texts);
  const { value: l, set, error } = draft;
  const x = l.settings;
  const change = (more: Partial<LineSettings>) => set({ settings: { ...x, ...more } });
  const trunk = parse(x.trunk ?? "");
  const write = (more: Partial<typeof trunk>) =>
    change({ trunk: compose({ ...trunk, ...more }, stored.settings.trunk) });
  const text = (name: "username" | "realm" | "caller_id" | "domain", label: string, help: string) => (
    <TextInput
      label={label}
      description={help}
      spellCheck={false}
      autoComplete="off"
      value={x[name] ?? ""}
      onChange={(e) => change({ [name]: e.currentTarget.value })}
      error={error("settings." + name)}
    />
  );
  return (
    <Card title={t.trunk}>
      <div className="form">
        <TextInput
          label={t.address}
          description={t.addressHelp}
          placeholder="sip.example.com"
          spellCheck={false}
          autoComplete="off"
          value={trunk.host}
          onChange={(e) => write({ host: e.currentTarget.value })}
          error={error("settings.trunk")}
        />
        <TransportField value={trunk.transport} disabled={!can} onChange={(transport) => write({ transport })} />
        <div className="pair">
          {text("username", t.user, t.userHelp)}
          <PasswordInput
            label={t.password}
            description={t.passwordHelp}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": t.password }}
            value={x.password ?? ""}
            onChange={(e) => change({ password: e.currentTarget.value || undefined })}
            error={error("settings.password")}
          />
        </div>
        {text("realm", t.realm, t.realmHelp)}
        <div className="pair">
          {text("caller_id", t.callerId, t.callerIdHelp)}
          {text("domain", t.domain, t.domainHelp)}
        </div>
        <Switch
          label={t.encrypt}
          description={t.encryptHelp}
          checked={String(x.encrypt) === "true"}
          onChange={(e) => change({ encrypt: e.currentTarget.checked })}
          error={error("settings.encrypt")}
        />
      </div>
    </Card>
  );
}

function IncomingCard({ draft, can }: { draft: Draft<Sender>; can: boolean }) {
  const t = useTexts(texts);
  const agents = useList("agents");
  const { value: l, set, error } = draft;
  const now = l.settings.agent ?? "";
  const all = (agents.data ?? [])
    .filter((a) => a.engine !== "elevenlabs" || a.id === now)
    .map((a) => ({ value: a.id, label: a.name }));
  return (
    <Card title={t.incoming}>
      <div className="form">
        <Select
          label={t.agent}
          description={t.incomingHelp}
          placeholder={t.nobody}
          clearable
          disabled={!can}
          data={now && !all.some((a) => a.value === now) ? [...all, { value: now, label: now }] : all}
          value={now || null}
          onChange={(agent) => set({ settings: { ...l.settings, agent: agent ?? "" } })}
          error={error("settings.agent")}
        />
        <Switch
          label={t.refer}
          description={t.referHelp}
          checked={l.settings.transfer === "refer"}
          onChange={(e) => set({ settings: { ...l.settings, transfer: e.currentTarget.checked ? "refer" : "bridge" } })}
          error={error("settings.transfer")}
        />
        <Switch
          label={t.register}
          description={t.registerHelp}
          checked={String(l.settings.register) === "true"}
          onChange={(e) => set({ settings: { ...l.settings, register: e.currentTarget.checked } })}
          error={error("settings.register")}
        />
        <Switch
          label={t.authenticate}
          description={t.authenticateHelp}
          checked={String(l.settings.authenticate) === "true"}
          onChange={(e) => set({ settings: { ...l.settings, authenticate: e.currentTarget.checked } })}
          error={error("settings.authenticate")}
        />
      </div>
    </Card>
  );
}
