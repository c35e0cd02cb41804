import { Button, Checkbox, Group, Modal, Progress, Stack } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { absolute, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Card, Note } from "../../ui/parts";
import { Told } from "../../ui/Told";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { jobTexts } from "./texts";
import { span, usePace } from "./pace";
import type { Job } from "./types";
import type { useJob } from "./useJob";

/** Running is a job that is being sent, or that was. */
export function Running({ job, act }: { job: Job; act: ReturnType<typeof useJob>["act"] }) {
  const t = useTexts(jobTexts);
  const language = useLanguage();
  const [busy, setBusy] = useState("");
  const [ending, end] = useState(false);
  const n = (x: number) => number(x, language);
  const { accepted, good } = job.result;
  const pace = usePace(accepted, job.state === "sending");
  const doing = async (what: "pause" | "resume") => {
    setBusy(what);
    try {
      await act(what);
    } catch (e) {
      failed(e);
    } finally {
      setBusy("");
    }
  };
  const why = job.state === "paused" ? (t as Record<string, string>)["paused_" + job.reason] : "";
  const waits = job.state === "sending" ? (t as Record<string, string>)["waits_" + job.reason] : "";
  const scheduled = job.due && Date.parse(job.due) > Date.now();
  return (
    <Card title={t.progress}>
      <div className="stack">
        <div>
          <div className="send-count">
            <b>{fill(t.acceptedOf, { n: n(accepted), all: n(good) })}</b>
            <span className="muted">
              {job.state === "sending"
                ? waits ||
                  (pace
                    ? fill(t.rate, {
                        pace: n(Math.round(pace)),
                        left: span(Math.max(1, (good - accepted) / pace), language),
                      })
                    : t.starting)
                : job.ended_at
                  ? absolute(job.ended_at, language)
                  : ""}
            </span>
          </div>
          <Progress
            value={good ? (accepted / good) * 100 : 0}
            aria-label={t.progress}
            transitionDuration={300}
            color={
              job.state === "paused" || job.state === "canceled" ? "gray" : job.state === "done" ? "green" : undefined
            }
            animated={job.state === "sending"}
          />
        </div>
        {job.state === "paused" && (
          <Note tone="warn">
            <p>{why || t.paused_teammate}</p>
            {job.detail && (
              <p className="small">
                <Told text={job.detail} />
              </p>
            )}
          </Note>
        )}
        {job.state === "done" && (
          <Note tone="ok">
            <p>
              {scheduled
                ? fill(t.allScheduled, { n: n(accepted), time: absolute(job.due!, language) })
                : fill(t.allAccepted, { n: n(accepted) })}
            </p>
          </Note>
        )}
        {job.state === "canceling" && (
          <p className="muted send-none" role="status">
            {t.cancelingText}
          </p>
        )}
        {job.state === "canceled" && job.begun_at && (
          <Note>
            <p>
              {fill(t.canceledText, {
                accepted: n(accepted),
                canceled: n(job.result.canceled),
                left: n(job.result.canceled + job.result.left > 0 ? job.result.left : accepted),
              })}
            </p>
          </Note>
        )}
        <div className="send-actions">
          {accepted > 0 && (
            <Button
              variant={job.state === "done" ? "filled" : "default"}
              renderRoot={(props) => <Link to="/campaigns/$name" params={{ name: job.campaign }} {...props} />}
            >
              {t.results}
            </Button>
          )}
          {accepted > 0 && (
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/notifications" search={{ campaign: job.campaign }} {...props} />}
            >
              {t.notifications}
            </Button>
          )}
          {job.state === "sending" && (
            <Button
              variant="default"
              loading={busy === "pause"}
              leftSection={<IconPlayerPause size={16} />}
              onClick={() => void doing("pause")}
            >
              {t.pause}
            </Button>
          )}
          {job.state === "paused" && (
            <Button
              loading={busy === "resume"}
              leftSection={<IconPlayerPlay size={16} />}
              onClick={() => void doing("resume")}
            >
              {t.resume}
            </Button>
          )}
          {(job.state === "sending" || job.state === "paused" || (job.state === "done" && scheduled)) && (
            <Button variant="default" color="red" leftSection={<IconX size={16} />} onClick={() => end(true)}>
              {t.cancel}
            </Button>
          )}
        </div>
      </div>
      {ending && <End job={job} act={act} close={() => end(false)} />}
    </Card>
  );
}

/** End asks what of a job is to be canceled. */
function End({ job, act, close }: { job: Job; act: ReturnType<typeof useJob>["act"]; close: () => void }) {
  const t = useTexts(jobTexts);
  const s = useTexts(shared);
  const language = useLanguage();
  const whole = job.state === "done";
  const [all, setAll] = useState(whole);
  const [busy, setBusy] = useState(false);
  const cancel = async () => {
    setBusy(true);
    try {
      await act("cancel", { accepted: whole || all });
      close();
    } catch (e) {
      failed(e);
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={t.cancelTitle} closeButtonProps={{ "aria-label": s.close }}>
      <Stack>
        <p className="send-none">
          {whole
            ? fill(t.cancelWhole, { n: number(job.result.accepted, language) })
            : fill(t.cancelRest, { n: number(job.result.good - job.result.accepted, language) })}
        </p>
        {!whole && job.result.accepted > 0 && (
          <Checkbox
            checked={all}
            onChange={(e) => setAll(e.currentTarget.checked)}
            label={fill(t.cancelAccepted, { n: number(job.result.accepted, language) })}
            description={t.cancelAcceptedHelp}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t.keep}
          </Button>
          <Button color="red" loading={busy} onClick={() => void cancel()}>
            {t.cancel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
