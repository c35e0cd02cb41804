import { ActionIcon, Button, Loader, TextInput, Tooltip } from "@mantine/core";
import { IconArrowBackUp, IconPlayerPlay, IconRefresh, IconSend2 } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Fragment, useEffect, useRef, useState, type FormEvent } from "react";
import { post } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Note } from "../../ui/parts";
import { problemText } from "../../ui/problem";
import { Pairs } from "./fields";
import { formTexts, runTexts, texts } from "./texts";
import { Changed, entryText, FailedAt, Place } from "./Log";
import { TemplateMessage, useTemplateOf } from "./Message";
import { RunState } from "./RunState";
import type { Effect, Entry, Flow, Http, Input, SendTemplate, Step, Tried, TriedTurn } from "./types";

/** TryRun runs the flow of the editor: the server computes it again from its beginning with each answer, and does nothing of it. */
export function TryRun({
  flow,
  faulty,
  at,
  choose,
  names,
}: {
  flow: Flow;
  faulty: boolean;
  at: (path: string | undefined) => void;
  choose: (path: string) => void;
  names: (s: Step) => string;
}) {
  const r = useTexts(runTexts);
  const f = useTexts(formTexts);
  const language = useLanguage();
  const company = useCompany();
  const [values, setValues] = useState<Record<string, string>>({ first_name: "Ana", channel: "web_chat" });
  const [inputs, setInputs] = useState<Input[] | null>(null); // null: it has not begun
  const log = useRef<HTMLDivElement>(null);
  const body = JSON.stringify({
    flow,
    language,
    values: Object.fromEntries(Object.entries(values).filter(([n]) => n)),
    inputs: inputs ?? [],
  });
  const tried = useQuery({
    queryKey: [company.id, "flow-try", body],
    enabled: inputs !== null && !faulty,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    queryFn: () => post("/flows/try", JSON.parse(body)),
  });
  const x = inputs === null ? undefined : tried.data;
  useEffect(() => {
    at(x && !over(x) ? x.path : undefined);
    return () => at(undefined);
  }, [x, at]);
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [x]);
  const add = (i: Input) => setInputs((all) => [...(all ?? []), i]);
  if (inputs === null) {
    return (
      <div className="flow-try-start">
        <p className="small muted">{r.tryHelp}</p>
        <Pairs
          label={r.values}
          value={values}
          onChange={setValues}
          error={() => ""}
          name={f.nameOf}
          text={f.value}
          add={f.addValue}
        />
        {faulty && <Note tone="warn">{r.needsFix}</Note>}
        <div>
          <Button leftSection={<IconPlayerPlay size={15} />} disabled={faulty} onClick={() => setInputs([])}>
            {r.begin}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <div className="flow-try">
      <div className="flow-try-head">
        {x ? <RunState state={x.state} /> : <Loader size="xs" />}
        <span style={{ flex: 1 }} />
        <Tooltip label={r.back}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={r.back}
            disabled={inputs.length === 0}
            onClick={() => setInputs(inputs.slice(0, -1))}
          >
            <IconArrowBackUp size={16} />
          </ActionIcon>
        </Tooltip>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconRefresh size={14} />}
          onClick={() => setInputs(inputs.length ? [] : null)}
        >
          {r.restart}
        </Button>
      </div>
      {faulty && <Note tone="warn">{r.needsFix}</Note>}
      {tried.isError && <Note tone="danger">{problemText(tried.error)}</Note>}
      <div className="flow-chat" ref={log} role="log" aria-label={r.try} tabIndex={0}>
        {x?.turns.map((turn, i) => (
          <Turn
            key={i}
            turn={turn}
            input={inputs[turn.input]}
            before={i > 0 ? x.turns[i - 1]!.after_ms : 0}
            choose={choose}
            answered={i < x.turns.length - 1 || x.state !== "asking"}
          />
        ))}
        {x && <Ended tried={x} />}
      </div>
      {x && <Next key={inputs.length} tried={x} add={add} names={names} />}
      {x && <Variables tried={x} />}
    </div>
  );
}

function over(x: Tried): boolean {
  return ["completed", "handed_off", "stopped", "failed"].includes(x.state);
}

/** Turn is what the contact said, and what followed from it. */
function Turn({
  turn,
  input,
  before,
  choose,
  answered,
}: {
  turn: TriedTurn;
  input?: Input;
  before: number;
  choose: (path: string) => void;
  answered: boolean;
}) {
  const t = useTexts(texts);
  const r = useTexts(runTexts);
  const language = useLanguage();
  const said = [...turn.said];
  const parts: ({ say: TriedTurn["said"][number] } | { entry: Entry })[] = [];
  for (const e of turn.log) {
    if ((e.kind === "say" || e.kind === "ask") && said[0]?.text === e.text) parts.push({ say: said.shift()! });
    else if (e.kind !== "say") parts.push({ entry: e });
  }
  parts.push(...said.map((say) => ({ say })));
  return (
    <>
      {turn.after_ms > before && (
        <div className="flow-later">{fill(r.later, { time: lengthOf(turn.after_ms - before, language) })}</div>
      )}
      {input?.kind === "response" && (
        <div className="said me">
          <span className="hidden">{r.asContact}: </span>
          {input.text}
        </div>
      )}
      {parts.map((p, i) =>
        "say" in p ? (
          <Fragment key={i}>
            <div className="said">
              <span className="hidden">{r.asFlow}: </span>
              {p.say.text}
            </div>
            {answered && p.say.choices && (
              <div className="flow-offered">
                {p.say.choices.map((c) => (
                  <span key={c}>{c}</span>
                ))}
              </div>
            )}
          </Fragment>
        ) : (
          <div key={i} className="flow-did" data-kind={p.entry.kind}>
            <Place path={p.entry.path} choose={choose} />
            <span>{entryText(p.entry, t, r)}</span>
            <Changed of={p.entry.changed} />
          </div>
        ),
      )}
    </>
  );
}

function Ended({ tried: x }: { tried: Tried }) {
  const r = useTexts(runTexts);
  if (!over(x)) return null;
  const last = x.turns[x.turns.length - 1];
  if (x.state === "failed") return <Note tone="danger">{x.error && <FailedAt error={x.error} />}</Note>;
  return (
    <Note tone="ok">
      {x.state === "handed_off"
        ? `${r.handed_off}${last?.handoff ? ": " + last.handoff : ""}`
        : last?.resolve
          ? `${r.completed}. ${r.resolved}.`
          : r.completed}
    </Note>
  );
}

/** Next is what the run waits for: an answer, its time, or the outcome of what it would do. */
function Next({ tried: x, add, names }: { tried: Tried; add: (i: Input) => void; names: (s: Step) => string }) {
  const r = useTexts(runTexts);
  const language = useLanguage();
  const [text, setText] = useState("");
  const send = (e: FormEvent) => {
    e.preventDefault();
    if (text.trim()) add({ kind: "response", text: text.trim() });
  };
  if (x.state === "asking") {
    return (
      <div className="flow-next">
        {x.choices.length > 0 && (
          <div className="tags">
            {x.choices.map((c) => (
              <Button
                key={c}
                variant="default"
                radius="xl"
                size="compact-md"
                onClick={() => add({ kind: "response", text: c })}
              >
                {c}
              </Button>
            ))}
          </div>
        )}
        <form onSubmit={send}>
          <TextInput
            data-autofocus
            autoFocus
            aria-label={r.answer}
            placeholder={r.answer}
            value={text}
            maxLength={4000}
            onChange={(e) => setText(e.currentTarget.value)}
            rightSection={
              <ActionIcon type="submit" variant="subtle" aria-label={r.send} disabled={!text.trim()}>
                <IconSend2 size={16} />
              </ActionIcon>
            }
          />
        </form>
      </div>
    );
  }
  if (x.state === "waiting")
    return (
      <div className="flow-next">
        <span>{fill(r.waits, { time: lengthOf(x.wait_ms ?? 0, language) })}</span>
        <div>
          <Button size="compact-md" variant="default" onClick={() => add({ kind: "wait" })}>
            {r.skip}
          </Button>
        </div>
      </div>
    );
  return x.effect ? <Outcome effect={x.effect} add={add} names={names} /> : null;
}

/** Outcome takes how something outside of the conversation ends. */
function Outcome({ effect: e, add, names }: { effect: Effect; add: (i: Input) => void; names: (s: Step) => string }) {
  const r = useTexts(runTexts);
  const wanted = Object.keys(e.http?.save ?? {});
  const [status, setStatus] = useState("200");
  const [values, setValues] = useState<Record<string, string>>({});
  return (
    <div className="flow-next">
      <span>{r.wants}</span>
      {e.send_template ? (
        <Template of={e.send_template} />
      ) : e.place_call ? (
        <p className="flow-call">{fill(r.callsWith, { agent: names({ place_call: e.place_call }) })}</p>
      ) : (
        <pre className="flow-request" tabIndex={0}>
          {requestOf(e.http!)}
        </pre>
      )}
      {e.kind === "http" && (
        <TextInput
          size="xs"
          label={r.status}
          value={status}
          onChange={(x) => setStatus(x.currentTarget.value)}
          maxLength={20}
          style={{ maxWidth: 140 }}
        />
      )}
      {wanted.map((n) => (
        <TextInput
          key={n}
          size="xs"
          label={n}
          description={e.http!.save![n]}
          value={values[n] ?? ""}
          maxLength={4000}
          onChange={(x) => setValues({ ...values, [n]: x.currentTarget.value })}
        />
      ))}
      <div className="tags">
        <Button
          size="compact-md"
          onClick={() =>
            add(
              e.kind === "http" ? { kind: "outcome", status, values, text: status } : { kind: "outcome", text: r.done },
            )
          }
        >
          {r.took}
        </Button>
        {e.kind === "http" ? (
          <Button
            size="compact-md"
            variant="default"
            onClick={() => add({ kind: "outcome", status: "failed", text: r.noResponse })}
          >
            {r.noResponse}
          </Button>
        ) : (
          <Button
            size="compact-md"
            variant="default"
            onClick={() => add({ kind: "outcome", refused: true, text: r.refusedIt })}
          >
            {r.refusedIt}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Template is a template as the contact gets it, or its name where its text is not known. */
function Template({ of }: { of: SendTemplate }) {
  const f = useTexts(formTexts);
  return useTemplateOf(of) ? (
    <div className="flow-message" tabIndex={0} role="group" aria-label={f.preview}>
      <TemplateMessage of={of} steps={[]} />
    </div>
  ) : (
    <p className="flow-call">
      {of.name} · {of.language}
    </p>
  );
}

/** requestOf is the request that a step would send. */
function requestOf(h: Http): string {
  return [
    `${h.method ?? "GET"} ${h.url}`,
    ...Object.entries(h.headers ?? {}).map(([n, v]) => `${n}: ${v}`),
    ...(h.body ? ["", h.body] : []),
  ].join("\n");
}

function Variables({ tried: x }: { tried: Tried }) {
  const r = useTexts(runTexts);
  const fresh = new Set(x.turns[x.turns.length - 1]?.log.flatMap((e) => Object.keys(e.changed ?? {})));
  const all = Object.entries(x.values).sort(
    ([a], [b]) => Number(fresh.has(b)) - Number(fresh.has(a)) || a.localeCompare(b),
  );
  return (
    <details className="flow-variables" open>
      <summary>
        {r.variables} <span className="muted">{all.length}</span>
      </summary>
      {all.length === 0 ? (
        <p className="small muted">{r.none}</p>
      ) : (
        <dl className="flow-values">
          {all.map(([n, v]) => (
            <div key={n} data-fresh={fresh.has(n) ? "yes" : undefined}>
              <dt>
                <code>{n}</code>
                {fresh.has(n) && <span className="hidden"> ({r.changedNow})</span>}
              </dt>
              <dd>{v || <span className="muted">–</span>}</dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}

/** lengthOf is a length of time, such as 2 hours. */
function lengthOf(ms: number, language: string): string {
  for (const [unit, length] of [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
  ] as const) {
    if (ms >= length && ms % length === 0)
      return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(ms / length);
  }
  return new Intl.NumberFormat(language, { style: "unit", unit: "second", unitDisplay: "long" }).format(ms / 1000);
}
