import { filled } from "../../ui/English";
import { Button, Checkbox, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import { absolute, number, relative } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Ago, useNow } from "../../ui/Ago";
import { Card, Failed, Note, Rows, Tag, type Tone } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Told } from "../../ui/Told";
import { texts } from "./texts";
import type { Status, StateName, Webhook } from "./types";
import { useChanges, useLastFailure, useLastTest, useStatus } from "./useWebhooks";
import "./webhooks.css";

const tones: Record<StateName, Tone | undefined> = {
  active: "ok",
  paused: undefined,
  failing: "warn",
  down: "danger",
  disabled: "danger",
};

export function StateTag({ state }: { state: StateName }) {
  const t = useTexts(texts);
  return <Tag tone={tones[state]}>{t[state]}</Tag>;
}

/** StateCard says how an endpoint stands, why, and what to do about it. */
export function StateCard({ webhook: w }: { webhook: Webhook }) {
  const t = useTexts(texts);
  const status = useStatus(w.id!);
  if (!status.data)
    return status.isError ? <Failed error={status.error} retry={() => void status.refetch()} /> : <Rows n={2} />;
  return (
    <Card title={t.state} actions={<StateTag state={status.data.state} />}>
      <Known webhook={w} status={status.data} />
    </Card>
  );
}

function Known({ webhook: w, status: s }: { webhook: Webhook; status: Status }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const bad = s.state === "failing" || s.state === "down" || s.state === "disabled";
  return (
    <div className="stack hook-state" role="status">
      {bad ? (
        <Note tone={s.state === "failing" ? "warn" : "danger"}>
          <Trouble id={w.id!} status={s} />
        </Note>
      ) : (
        <Calm id={w.id!} status={s} />
      )}
      <p className="small muted">
        {s.waiting === 0
          ? t.waitNone
          : s.waiting === 1
            ? t.waitOne
            : fill(t.waitMany, { n: number(s.waiting, language) })}
        {s.failed > 0 && <> · {s.failed === 1 ? t.failedOne : fill(t.failedMany, { n: number(s.failed, language) })}</>}
        {s.behind > 0 && s.state !== "paused" && <> · {fill(t.behind, { n: number(s.behind, language) })}</>}
        {s.oldest_at && <> · {fill(t.oldest, { time: absolute(s.oldest_at, language) })}</>}
      </p>
      <Buttons webhook={w} status={s} />
    </div>
  );
}

function Calm({ id, status: s }: { id: string; status: Status }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  if (s.state === "paused")
    return (
      <p>
        {t.isPaused}{" "}
        {s.behind > 0 && (s.behind === 1 ? t.pausedOne : fill(t.pausedMany, { n: number(s.behind, language) }))}
      </p>
    );
  if (!s.succeeded_at) return <New id={id} />;
  return (
    <p>{fill(t.isActive, { ago: relative(s.succeeded_at, language, Math.max(now, Date.parse(s.succeeded_at))) })}</p>
  );
}

/** New is an endpoint to which no event was sent yet, and how its last test ended. */
function New({ id }: { id: string }) {
  const t = useTexts(texts);
  const test = useLastTest(id).data;
  if (!test) return <p>{t.isNew}</p>;
  if (test.succeeded)
    return (
      <p>
        {t.isTested} <Ago at={test.at} />
      </p>
    );
  return (
    <Note tone="warn">
      <p>
        <b>{t.testFailed}</b> <Ago at={test.at} />
        {test.error && (
          <>
            {": "}
            <Told text={test.error} />.
          </>
        )}
      </p>
      <p>{t.testFailedDo}</p>
    </Note>
  );
}

/** Trouble is why nothing arrives, and the next step. */
function Trouble({ id, status: s }: { id: string; status: Status }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const last = useLastFailure(id, true).data?.error?.replace(/\.$/, "");
  const time = (at: string | null) => (at ? absolute(at, language) : "–");
  const next =
    s.next_attempt_at && Date.parse(s.next_attempt_at) > now + 15_000
      ? fill(t.nextAt, {
          time: new Intl.DateTimeFormat(language, { timeStyle: "short" }).format(new Date(s.next_attempt_at)),
        })
      : t.nextSoon;
  if (s.state === "disabled") {
    return (
      <>
        <p>
          <b>{fill(s.reason === "gone" ? t.isGone : t.isGivenUp, { time: time(s.disabled_at) })}</b>{" "}
          {s.reason !== "gone" && last && filled(t.lastSaid, { error: <Told text={last} /> })}
        </p>
        <p>{t.disabledDo}</p>
      </>
    );
  }
  return (
    <>
      <p>
        <b>
          {fill(s.state === "down" ? t.isDown : t.isFailing, {
            time: time(s.failing_since),
            n: number(s.failures, language),
          })}
        </b>{" "}
        {last && filled(t.lastSaid, { error: <Told text={last} /> })} {next}
      </p>
      <p>{t.failingDo}</p>
    </>
  );
}

function Buttons({ webhook: w, status: s }: { webhook: Webhook; status: Status }) {
  const t = useTexts(texts);
  const can = useCan()("webhooks:write");
  const { replace } = useChanges();
  const [asking, ask] = useState(false);
  const [busy, setBusy] = useState(false);
  if (!can) return null;
  const pause = async (paused: boolean) => {
    setBusy(true);
    try {
      await replace({ ...w, paused });
      succeeded(paused ? t.didPause : t.didResume);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const disabled = s.state === "disabled";
  return (
    <div className="hook-buttons">
      {disabled && <Button onClick={() => ask(true)}>{t.enable}</Button>}
      {(s.state === "failing" || s.state === "down") && <Button onClick={() => ask(true)}>{t.tryNow}</Button>}
      {!disabled && (
        <Button variant="default" loading={busy} onClick={() => void pause(!w.paused)}>
          {w.paused ? t.resume : t.pause}
        </Button>
      )}
      <Enable id={w.id!} disabled={disabled} opened={asking} close={() => ask(false)} />
    </div>
  );
}

/** Enable asks whether what waits is delivered too. */
function Enable({
  id,
  disabled,
  opened,
  close,
}: {
  id: string;
  disabled: boolean;
  opened: boolean;
  close: () => void;
}) {
  const t = useTexts(texts);
  const sh = useTexts(shared);
  const { enable } = useChanges();
  const [skip, setSkip] = useState(false);
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      await enable(id, skip);
      succeeded(disabled ? t.didEnable : t.didTry);
      close();
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => setSkip(false)}
      title={disabled ? t.enableTitle : t.tryTitle}
      closeButtonProps={{ "aria-label": sh.close }}
      size={460}
    >
      <Stack>
        <p style={{ margin: 0 }}>{t.enableText}</p>
        <Checkbox
          checked={skip}
          onChange={(e) => setSkip(e.currentTarget.checked)}
          label={t.skip}
          description={t.skipHelp}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {sh.cancel}
          </Button>
          <Button data-autofocus loading={busy} onClick={() => void go()}>
            {disabled ? t.enable : t.tryNow}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
