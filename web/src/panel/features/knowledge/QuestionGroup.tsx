import "./questions.css";
import { Button, Menu } from "@mantine/core";
import { IconLink, IconPencil } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { post } from "../../api";
import { languageName, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import type { QuestionGroup } from "./types";
import { Ago } from "../../ui/Ago";
import { Certainty } from "../../ui/Certainty";
import { confirm } from "../../ui/confirm";
import { Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { useList } from "../../ui/resources";
import { answeringOf } from "./answering";
import { questionTexts, texts } from "./texts";

/** Group is open questions about one subject, with the nearest article beside them. */
export function Group({ group: g }: { group: QuestionGroup }) {
  const q = useTexts(questionTexts);
  const t = useTexts(texts);
  const language = useLanguage();
  const first = g.examples[0]!;
  const wrong = g.examples.find((x) => x.answer)?.answer;
  const more = g.questions.length - g.examples.length;
  return (
    <li aria-label={first.question}>
      <div className="question-asked">
        <strong lang={first.language || undefined}>{first.question}</strong>
        <div className="question-facts small muted">
          <span>{g.count === 1 ? q.askedOnce : fill(q.asked, { n: number(g.count, language) })}</span>
          <span>
            {q.last} <Ago at={g.last_at} />
          </span>
          <span>{g.agents.map((name) => name || t.gone).join(", ")}</span>
          {g.languages.map((l) => (
            <Tag key={l}>{languageName(l, language)}</Tag>
          ))}
          {g.offered > 0 && <Tag tone="warn">{fill(q.offered, { n: number(g.offered, language) })}</Tag>}
          {g.wrong > 0 && <Tag tone="danger">{fill(q.wrong, { n: number(g.wrong, language) })}</Tag>}
        </div>
        {wrong && (
          <p className="small question-wrong" title={wrong.text}>
            {wrong.title ? fill(q.wrongFrom, { title: wrong.title }) : q.wrongAnswer}
          </p>
        )}
        {g.questions.length > 1 && (
          <details>
            <summary className="small">{fill(q.wordings, { n: number(g.questions.length, language) })}</summary>
            <ul className="small">
              {g.examples.map((x) => (
                <li key={x.id} lang={x.language || undefined}>
                  {x.question}
                </li>
              ))}
              {more > 0 && <li className="muted">{fill(q.more, { n: number(more, language) })}</li>}
            </ul>
          </details>
        )}
      </div>
      <Nearest group={g} />
      <Actions group={g} />
    </li>
  );
}

function Nearest({ group: g }: { group: QuestionGroup }) {
  const q = useTexts(questionTexts);
  const t = useTexts(texts);
  const n = g.nearest;
  if (!n)
    return (
      <div className="question-nearest">
        <span className="small muted">{q.noNearest}</span>
      </div>
    );
  return (
    <div className="question-nearest">
      <span className="small muted">
        {q.nearest} · <Certainty of={n.confidence} />
      </span>
      <span>
        <Link
          className="row-title"
          to="/knowledge/$id"
          params={{ id: n.knowledge }}
          search={{ article: n.article }}
          title={n.passage}
        >
          {n.title || t.untitled}
        </Link>{" "}
        <span className="small muted">{fill(t.inBase, { base: n.knowledge })}</span>
      </span>
      {n.answers && <span className="small">{q.knownNow}</span>}
    </div>
  );
}

function Actions({ group: g }: { group: QuestionGroup }) {
  const q = useTexts(questionTexts);
  const t = useTexts(texts);
  const company = useCompany();
  const can = useCan()("resources:write");
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  if (!can) return null;
  const first = g.examples[0]!.question;
  const act = async (send: () => Promise<unknown>, done: string) => {
    setBusy(true);
    try {
      await send();
      succeeded(done);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
      await client.invalidateQueries({ queryKey: [company.id] });
    }
  };
  const attach = async () => {
    const n = g.nearest!;
    const text = (
      <>
        <p style={{ marginTop: 0 }}>{q.attachText}</p>
        <ul className="question-wordings">
          {g.examples.map((x) => (
            <li key={x.id}>{x.question}</li>
          ))}
          {g.questions.length > g.examples.length && (
            <li className="muted">{fill(q.more, { n: g.questions.length - g.examples.length })}</li>
          )}
        </ul>
      </>
    );
    if (
      !(await confirm({ title: fill(q.attachTitle, { title: n.title || t.untitled }), text, action: q.attachAction }))
    )
      return;
    await act(
      () =>
        post("/questions/attach", {
          questions: g.questions,
          knowledge: n.knowledge,
          article: n.article,
          title: n.title,
        }),
      q.attached,
    );
  };
  return (
    <div className="question-actions">
      {g.nearest && (
        <Button
          size="xs"
          variant="default"
          loading={busy}
          leftSection={<IconLink size={15} />}
          aria-label={`${q.attach}: ${first}`}
          onClick={() => void attach()}
        >
          {q.attach}
        </Button>
      )}
      <Answer group={g} />
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        disabled={busy}
        aria-label={`${t.dismiss}: ${first}`}
        onClick={() => void act(() => post("/questions/resolve", { questions: g.questions }), q.dismissed)}
      >
        {t.dismiss}
      </Button>
    </div>
  );
}

/** Answer begins an article with the question as its title, in the base that is chosen where there are several. */
function Answer({ group: g }: { group: QuestionGroup }) {
  const q = useTexts(questionTexts);
  const t = useTexts(texts);
  const navigate = useNavigate();
  const all = useList("knowledge").data ?? [];
  const bases = g.knowledge.length ? all.filter((b) => g.knowledge.includes(b.id)) : all;
  const question = g.examples[0]!.question;
  const go = (id: string) =>
    void navigate({
      to: "/knowledge/$id",
      params: { id },
      search: { article: "new", title: question.replace(/\s+/g, " ").slice(0, 255) },
      state: { answering: answeringOf(g) },
    });
  const button = (open?: () => void) => (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconPencil size={15} />}
      aria-label={`${q.answer}: ${question}`}
      onClick={open}
    >
      {q.answer}
    </Button>
  );
  if (bases.length === 0) return null;
  if (bases.length === 1) return button(() => go(bases[0]!.id));
  return (
    <Menu position="bottom-end">
      <Menu.Target>{button()}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{q.answer}</Menu.Label>
        {bases.map((b) => (
          <Menu.Item key={b.id} onClick={() => go(b.id)}>
            {fill(t.in, { base: b.id })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
