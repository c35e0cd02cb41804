import { Drawer, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../../api";
import { useTexts } from "../../../i18n";
import { useCompany } from "../../../session";
import { Failed, Note, Tag } from "../../../ui/parts";
import { shared } from "../../../ui/texts";
import { keyOf, testsKey, type Check, type TestResult, type TestTurn } from "./run";
import { texts } from "./texts";

/** ResultDrawer shows the conversation of a test in a run: what was expected, and what came. */
export function ResultDrawer({
  agent,
  shown,
  close,
}: {
  agent: string;
  shown: { run: string; test: string } | null;
  close: () => void;
}) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const run = useQuery({
    queryKey: [...testsKey(company.id, agent), shown?.run],
    queryFn: ({ signal }) => get(`/agents/${agent}/tests/runs/${shown!.run}`, {}, signal),
    enabled: !!shown,
    staleTime: Infinity, // a run does not change
  });
  const result = run.data?.results.find((r) => keyOf(r) === shown?.test);
  return (
    <Drawer
      opened={!!shown}
      onClose={close}
      position="right"
      size={620}
      title={result?.name ?? t.test}
      closeButtonProps={{ "aria-label": s.close }}
    >
      {run.isError && <Failed error={run.error} retry={() => void run.refetch()} />}
      {run.isPending && <Loader size="sm" />}
      {result && <Conversation result={result} />}
    </Drawer>
  );
}

/** Conversation is a test turn by turn. */
export function Conversation({ result }: { result: TestResult }) {
  const t = useTexts(texts);
  if (!result.turns) return <Note>{t.unkept}</Note>;
  return (
    <div className="stack tests-conversation">
      {result.turns.map((turn, i) => (
        <div key={i} className="stack">
          <div className="said me">
            <span className="hidden">{t.visitor}: </span>
            {turn.say}
          </div>
          <div className="answer">
            <div className="said">
              <span className="hidden">{t.agent}: </span>
              {turn.text || <span className="muted">{t.nothing}</span>}
            </div>
            <Facts turn={turn} />
          </div>
          {(turn.checks ?? []).map((c, n) => (
            <Checked key={n} check={c} />
          ))}
        </div>
      ))}
    </div>
  );
}

function Facts({ turn }: { turn: TestTurn }) {
  const t = useTexts(texts);
  const facts: [string, string[]][] = [
    [t.articles, turn.sources ?? []],
    [t.choices, turn.choices ?? []],
    [t.tools, (turn.calls ?? []).map((c) => c.tool + (c.arguments ? " " + JSON.stringify(c.arguments) : ""))],
    [t.collected, (turn.sets ?? []).map((x) => x.name + ": " + x.value)],
  ];
  const words = [turn.outcome, turn.handoff && "handoff", turn.ends && "ends", turn.ms + " ms"].filter(Boolean);
  return (
    <div className="small muted">
      {words.join(" · ")}
      {facts.map(([label, all]) => all.length > 0 && <div key={label}>{label + ": " + all.join(" | ")}</div>)}
    </div>
  );
}

function Checked({ check: c }: { check: Check }) {
  const t = useTexts(texts);
  return (
    <div className={`tests-check ${c.state}`}>
      <Tag tone={c.state === "passed" ? "ok" : c.state === "failed" ? "danger" : "warn"}>{t[c.state]}</Tag>
      <div>
        <div>
          <code>{c.rule}</code> {c.want}
        </div>
        {c.got && (
          <div className="small muted">
            {t.got}: {c.got}
          </div>
        )}
      </div>
    </div>
  );
}
