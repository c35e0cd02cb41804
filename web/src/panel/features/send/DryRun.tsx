import { useSenderName } from "../../ui/sender";
import { ActionIcon, Button, Checkbox, Group, Modal, Stack, TextInput } from "@mantine/core";
import { IconChevronLeft, IconChevronRight, IconSend } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../../api";
import { absolute, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Card, Failed, Note } from "../../ui/parts";
import { phone } from "../../ui/number";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Preview } from "../templates/Preview";
import { jobTexts, texts } from "./texts";
import { span } from "./pace";
import { faultReasons, type Job } from "./types";
import { useTemplates } from "./useTemplates";

const typedFrom = 1000; // recipients from which the number has to be typed
const page = 20; // samples that the server gives at once

/** DryRun is what would be sent: to how many, against which quota, until when, and how the messages look. */
export function DryRun({ job, send }: { job: Job; send: (recipients: number, again: boolean) => Promise<unknown> }) {
  const t = useTexts(jobTexts);
  const one = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const [asked, ask] = useState(false);
  const [typed, setTyped] = useState("");
  const [sure, setSure] = useState(false); // after a restore
  const [busy, setBusy] = useState(false);
  const good = job.result.good,
    q = job.quota;
  const n = (x: number) => number(x, language);
  const left = Math.max(0, q.limit - q.used);
  const fits = q.limit === 0 || good <= left;
  const due = job.due ? Date.parse(job.due) : undefined;
  const late = due !== undefined && due <= Date.now();
  const begin = due ?? Date.now(),
    end = job.per_second > 0 ? begin + (good / job.per_second) * 1000 : begin;
  const at = (ms: number) => absolute(new Date(ms).toISOString(), language);
  const typing = good > typedFrom;
  const ready = (!typing || typed.trim() === String(good)) && (!job.restored_at || sure);
  const pace =
    job.per_second > 0
      ? fill(t.lastAt, { time: at(end), span: span((end - begin) / 1000, language), pace: n(job.per_second) })
      : t.unpaced;
  const skipped = faultReasons.filter((r) => (job.result.faults[r] ?? 0) > 0);
  const senderName = useSenderName();
  const from = useTemplates().data?.find((x) => x.sender === job.settings.sender)?.number;
  const go = async () => {
    setBusy(true);
    try {
      await send(good, !!job.restored_at);
      ask(false);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="send-split">
      <Card title={t.dryRun}>
        <dl className="send-facts">
          <dt>{t.message}</dt>
          <dd>
            {job.template} ({job.language})<div className="small muted">{job.campaign}</div>
          </dd>
          <dt>{t.recipients}</dt>
          <dd>
            <b>{n(good)}</b>
          </dd>
          <dt>{t.quotaToday}</dt>
          <dd>
            {q.limit === 0 ? (
              t.noQuota
            ) : (
              <>
                {fill(t.quotaFacts, {
                  used: n(q.used),
                  now: n(good),
                  left: n(Math.max(0, left - good)),
                  limit: n(q.limit),
                })}
                <Meter used={q.used} now={good} limit={q.limit} />
              </>
            )}
          </dd>
          <dt>{t.leaves}</dt>
          <dd>
            {job.due ? at(begin) : t.atOnce}
            {job.settings.timezone && job.due && (
              <div className="small muted">
                {job.settings.datetime_sending?.slice(0, 16).replace("T", " ")} {job.settings.timezone}
              </div>
            )}
          </dd>
          <dt>{t.last}</dt>
          <dd>{pace}</dd>
        </dl>
        {!fits && (
          <Note tone="danger">
            <p>{fill(t.tooMany, { n: n(good), left: n(left), time: absolute(q.reset_time, language) })}</p>
          </Note>
        )}
        {late && (
          <Note tone="warn">
            <p>
              {one.inPast}: {t.changeTime}
            </p>
          </Note>
        )}
        {job.restored_at && (
          <Note tone="warn">
            <p>{fill(t.restoredText, { time: absolute(job.restored_at, language) })}</p>
          </Note>
        )}
        {good === 0 && (
          <Note tone="warn">
            <p>{t.nobody}</p>
          </Note>
        )}
        <div className="send-actions">
          <Button
            leftSection={<IconSend size={16} />}
            disabled={!fits || late || good === 0}
            onClick={() => {
              setTyped("");
              setSure(false);
              ask(true);
            }}
          >
            {fill(good === 1 ? t.sendOne : t.sendTo, { n: n(good) })}
          </Button>
        </div>
        <Modal
          opened={asked}
          size="xl"
          onClose={() => ask(false)}
          title={fill(good === 1 ? t.sendOneAsk : t.sendAsk, { n: n(good) })}
          closeButtonProps={{ "aria-label": s.close }}
        >
          <form
            onSubmit={(e) => {
              e.preventDefault();
              if (ready) void go();
            }}
          >
            <Stack>
              <div className="send-confirm">
                <dl className="send-facts">
                  <dt>{t.message}</dt>
                  <dd>
                    {job.template} ({job.language})<div className="small muted">{job.campaign}</div>
                  </dd>
                  <dt>{t.recipients}</dt>
                  <dd>
                    <b>{n(good)}</b>
                    {skipped.length > 0 && (
                      <div className="small muted">
                        {fill(t.skippedN, { n: n(job.rows - good) })}
                        <ul>
                          {skipped.map((r) => (
                            <li key={r}>
                              {t[r]}: {n(job.result.faults[r]!)}
                            </li>
                          ))}
                        </ul>
                      </div>
                    )}
                  </dd>
                  <dt>{t.fromSender}</dt>
                  <dd>
                    {senderName(job.settings.sender)}
                    {from && <div className="small muted">{phone(from)}</div>}
                  </dd>
                  <dt>{t.leaves}</dt>
                  <dd>{job.due ? at(begin) : t.atOnce}</dd>
                  <dt>{t.last}</dt>
                  <dd>{pace}</dd>
                </dl>
                <Samples job={job} first />
              </div>
              {job.restored_at && (
                <Checkbox checked={sure} onChange={(e) => setSure(e.currentTarget.checked)} label={t.restoredSure} />
              )}
              {typing && (
                <TextInput
                  label={fill(t.typeNumber, { n: String(good) })}
                  value={typed}
                  inputMode="numeric"
                  autoComplete="off"
                  data-autofocus
                  onChange={(e) => setTyped(e.currentTarget.value)}
                />
              )}
              <Group justify="flex-end">
                <Button variant="default" onClick={() => ask(false)}>
                  {s.cancel}
                </Button>
                <Button type="submit" loading={busy} data-autofocus={typing ? undefined : true} disabled={!ready}>
                  {job.due ? one.schedule : one.send}
                </Button>
              </Group>
            </Stack>
          </form>
        </Modal>
      </Card>
      {good > 0 && <Samples job={job} />}
    </div>
  );
}

/** Meter is a day's quota, with what is used and what would be. */
function Meter({ used, now, limit }: { used: number; now: number; limit: number }) {
  const part = (x: number) => `${Math.min(100, (x / limit) * 100)}%`;
  return (
    <span className="send-meter" aria-hidden="true">
      <i style={{ width: part(used) }} />
      <i
        data-now="yes"
        data-over={used + now > limit ? "yes" : undefined}
        style={{ width: part(Math.min(now, limit - used)) }}
      />
    </span>
  );
}

/** Samples are the messages as their recipients get them; first: only the first one. */
function Samples({ job, first }: { job: Job; first?: boolean }) {
  const senderName = useSenderName();
  const t = useTexts(jobTexts);
  const one = useTexts(texts);
  const language = useLanguage();
  const company = useCompany();
  const [i, set] = useState(0);
  const from = Math.floor(i / page) * page;
  const Frame = first ? "div" : "aside";
  const list = useQuery({
    queryKey: [company.id, "send", "samples", job.id, job.settings.version, from],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => get(`/send/jobs/${job.id}/samples`, { from }, signal),
  });
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  const x = list.data?.data[i - from];
  return (
    <Frame className={first ? undefined : "send-preview"} aria-label={first ? undefined : one.preview}>
      {list.data && x ? (
        <Preview components={list.data.components} values={x.values} sender={senderName(job.settings.sender)} />
      ) : (
        <p className="muted send-no-preview">{one.preview}</p>
      )}
      {!first && (
        <div className="send-pager">
          <ActionIcon variant="default" aria-label={t.previous} disabled={i === 0} onClick={() => set(i - 1)}>
            <IconChevronLeft size={16} />
          </ActionIcon>
          <span role="status">
            {x
              ? fill(t.sample, { i: number(i + 1, language), n: number(job.result.good, language), line: x.line })
              : "…"}
          </span>
          <ActionIcon
            variant="default"
            aria-label={t.next}
            disabled={i + 1 >= job.result.good}
            onClick={() => set(i + 1)}
          >
            <IconChevronRight size={16} />
          </ActionIcon>
        </div>
      )}
    </Frame>
  );
}
