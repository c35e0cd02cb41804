import { Button, Group, Modal, PasswordInput, Skeleton, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useMe } from "../../session";
import { Ago } from "../../ui/Ago";
import { Card, Copy, Failed, Note, Tag } from "../../ui/parts";
import { failed, fieldErrors, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { factorTexts, texts } from "./texts";
import { QR } from "./QR";

interface Proposal {
  secret: string;
  uri: string;
  qr: string[];
}
type Doing = "on" | "off" | "codes" | null;

/** FactorCard turns the second factor of the own sign-in on and off. */
export function FactorCard() {
  const t = useTexts(factorTexts);
  const state = useQuery({
    queryKey: ["second-factor"],
    queryFn: ({ signal }) => get("/user/second-factor", {}, signal),
  });
  const [doing, setDoing] = useState<Doing>(null);
  const [opened, setOpened] = useState(false);
  const begin = (what: Doing) => {
    setDoing(what);
    setOpened(true);
  };
  const close = () => setOpened(false);
  const x = state.data;
  return (
    <Card title={t.title} actions={x && <Tag tone={x.enabled ? "ok" : undefined}>{x.enabled ? t.isOn : t.isOff}</Tag>}>
      {state.isPending ? (
        <Skeleton height={36} />
      ) : state.isLoadingError ? (
        <Failed error={state.error} retry={() => void state.refetch()} />
      ) : (
        <Stack>
          {x!.enabled ? (
            <>
              <div className="muted">
                {t.since} <Ago at={x!.since} /> ·{" "}
                {x!.recovery_codes === 1 ? t.oneLeft : fill(t.left, { n: x!.recovery_codes })}
              </div>
              {x!.recovery_codes <= 2 && (
                <Note tone="warn">
                  <p>{t.few}</p>
                </Note>
              )}
              <Group>
                <Button variant="default" onClick={() => begin("codes")}>
                  {t.newCodes}
                </Button>
                <Button variant="default" color="red" onClick={() => begin("off")}>
                  {t.turnOff}
                </Button>
              </Group>
            </>
          ) : (
            <>
              <div className="muted">{t.about}</div>
              <div>
                <Button variant="default" onClick={() => begin("on")}>
                  {t.turnOn}
                </Button>
              </div>
            </>
          )}
        </Stack>
      )}
      <Dialog doing={doing} opened={opened} close={close} gone={() => setDoing(null)} />
    </Card>
  );
}

function Dialog({
  doing,
  opened,
  close,
  gone,
}: {
  doing: Doing;
  opened: boolean;
  close: () => void;
  gone: () => void;
}) {
  const t = useTexts(factorTexts);
  const s = useTexts(shared);
  const [codes, setCodes] = useState<string[] | null>(null);
  const title = codes ? t.codesTitle : doing === "off" ? t.offTitle : doing === "codes" ? t.newTitle : t.onTitle;
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => {
        setCodes(null);
        gone();
      }}
      title={title}
      closeOnClickOutside={!codes}
      closeOnEscape={!codes}
      closeButtonProps={{ "aria-label": s.close }}
      size={500}
    >
      {codes ? (
        <Codes codes={codes} close={close} />
      ) : doing === "off" ? (
        <TurnOff close={close} />
      ) : doing === "codes" ? (
        <NewCodes show={setCodes} close={close} />
      ) : (
        doing === "on" && <TurnOn show={setCodes} close={close} />
      )}
    </Modal>
  );
}

function useDone() {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ queryKey: ["second-factor"] });
}

/** TurnOn asks for the password, shows the secret, and takes the first code. */
function TurnOn({ show, close }: { show: (codes: string[]) => void; close: () => void }) {
  const t = useTexts(factorTexts);
  const a = useTexts(texts);
  const s = useTexts(shared);
  const me = useMe();
  const done = useDone();
  const [busy, setBusy] = useState(false);
  const [proposal, setProposal] = useState<Proposal | null>(null);
  const form = useForm({
    initialValues: { present: "", code: "" },
    validate: { present: (v) => (v ? null : s.required), code: (v) => (!proposal || v.trim() ? null : s.required) },
  });
  const submit = async ({ present, code }: typeof form.values) => {
    setBusy(true);
    try {
      if (!proposal) {
        setProposal(await post("/user/second-factor", { present }));
      } else {
        const { recovery_codes } = await post("/user/second-factor/confirm", { code });
        show(recovery_codes);
        done();
      }
    } catch (e) {
      if (!fieldErrors(e, form)) failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
      <Stack>
        {!proposal ? (
          <>
            <div className="muted">{t.onAbout}</div>
            <input type="text" name="username" autoComplete="username" value={me.account.email} readOnly hidden />
            <PasswordInput
              label={a.present}
              autoComplete="current-password"
              data-autofocus
              visibilityToggleButtonProps={{ "aria-label": a.show }}
              {...form.getInputProps("present")}
            />
          </>
        ) : (
          <>
            <div className="muted">{t.scan}</div>
            <Group align="flex-start" wrap="wrap">
              <QR rows={proposal.qr} label={t.qr} />
              <Stack gap={6} style={{ flex: 1, minWidth: 180 }}>
                <div className="small muted">{t.byHand}</div>
                <Group gap={4} wrap="nowrap">
                  <code style={{ overflowWrap: "anywhere" }}>{proposal.secret.replace(/(.{4})/g, "$1 ").trim()}</code>
                  <Copy value={proposal.secret} label={t.copySecret} />
                </Group>
              </Stack>
            </Group>
            <TextInput
              label={t.code}
              description={t.codeHelp}
              autoComplete="one-time-code"
              inputMode="numeric"
              maxLength={9}
              autoFocus
              {...form.getInputProps("code")}
            />
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {s.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {proposal ? t.turnOn : t.next}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Codes shows recovery codes, this once. */
function Codes({ codes, close }: { codes: string[]; close: () => void }) {
  const t = useTexts(factorTexts);
  const shown = codes.map((c) => c.replace(/(.{4})(?=.)/g, "$1-"));
  const text = shown.join("\n") + "\n";
  return (
    <Stack>
      <Note tone="warn">
        <p>{t.codesAbout}</p>
      </Note>
      <ul className="recovery-codes" aria-label={t.codesTitle}>
        {shown.map((c) => (
          <li key={c}>
            <code>{c}</code>
          </li>
        ))}
      </ul>
      <Group justify="flex-end">
        <Copy value={text} label={t.copyCodes} />
        <Button
          variant="default"
          component="a"
          href={"data:text/plain;charset=utf-8," + encodeURIComponent(text)}
          download="carillon-recovery-codes.txt"
        >
          {t.saveCodes}
        </Button>
        <Button onClick={close}>{t.kept}</Button>
      </Group>
    </Stack>
  );
}

function NewCodes({ show, close }: { show: (codes: string[]) => void; close: () => void }) {
  const t = useTexts(factorTexts);
  const s = useTexts(shared);
  const done = useDone();
  const [busy, setBusy] = useState(false);
  const form = useForm({ initialValues: { code: "" }, validate: { code: (v) => (v.trim() ? null : s.required) } });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      show((await post("/user/second-factor/recovery-codes", v)).recovery_codes);
      done();
    } catch (e) {
      if (!fieldErrors(e, form)) failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
      <Stack>
        <div className="muted">{t.newAbout}</div>
        <TextInput
          label={t.code}
          description={t.anyCode}
          autoComplete="one-time-code"
          maxLength={32}
          data-autofocus
          {...form.getInputProps("code")}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {s.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {t.newCodes}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function TurnOff({ close }: { close: () => void }) {
  const t = useTexts(factorTexts);
  const a = useTexts(texts);
  const s = useTexts(shared);
  const done = useDone();
  const [busy, setBusy] = useState(false);
  const need = (v: string) => (v.trim() ? null : s.required);
  const form = useForm({ initialValues: { present: "", code: "" }, validate: { present: need, code: need } });
  const submit = async (v: typeof form.values) => {
    setBusy(true);
    try {
      await post("/user/second-factor/remove", v);
      succeeded(t.wasOff);
      done();
      close();
    } catch (e) {
      if (!fieldErrors(e, form)) failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={form.onSubmit((v) => void submit(v))} noValidate>
      <Stack>
        <div className="muted">{t.offAbout}</div>
        <PasswordInput
          label={a.present}
          autoComplete="current-password"
          data-autofocus
          visibilityToggleButtonProps={{ "aria-label": a.show }}
          {...form.getInputProps("present")}
        />
        <TextInput
          label={t.code}
          description={t.anyCode}
          autoComplete="one-time-code"
          maxLength={32}
          {...form.getInputProps("code")}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {s.cancel}
          </Button>
          <Button type="submit" color="red" loading={busy}>
            {t.turnOff}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
