import { ActionIcon, Button, Menu, Tooltip } from "@mantine/core";
import { IconMessageQuestion, IconPencil, IconX } from "@tabler/icons-react";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { del, get, type Page as Part } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import type { Base, OpenQuestion } from "../../types";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Rows } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { useList } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { texts } from "./texts";

/** Questions lists what no agent could answer. */
export function Questions() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const company = useCompany();
  const can = useCan()("resources:write");
  const client = useQueryClient();
  const list = useInfiniteQuery({
    queryKey: [company.id, "questions"],
    initialPageParam: "",
    getNextPageParam: (last: Part<OpenQuestion>) => last.next_cursor ?? undefined,
    queryFn: ({ pageParam, signal }) => get<Part<OpenQuestion>>("/questions", { cursor: pageParam, limit: 50 }, signal),
  });
  const dismiss = async (q: OpenQuestion) => {
    try {
      await del("/questions/" + q.id);
      succeeded(t.dismissed);
      await client.invalidateQueries({ queryKey: [company.id, "questions"] });
    } catch (e) {
      failed(e);
    }
  };
  if (list.isPending) return <Rows />;
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  const rows = list.data.pages.flatMap((p) => p.data);
  return (
    <div className="stack">
      <p className="muted" style={{ margin: 0 }}>
        {t.questionsHelp}
      </p>
      <Card flush label={t.questions}>
        {rows.length === 0 ? (
          <Empty icon={<IconMessageQuestion size={22} />} title={t.noQuestions} text={t.noQuestionsText} />
        ) : (
          <div className="table-wrap">
            <table className="table">
              <thead>
                <tr>
                  <th>{t.question}</th>
                  <th className="wide-only">{t.agent}</th>
                  <th>{t.times}</th>
                  <th className="wide-only">{t.last}</th>
                  <th>
                    <span className="hidden">{s.actions}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((q) => (
                  <tr key={q.id}>
                    <td lang={q.language || undefined} style={{ overflowWrap: "anywhere" }}>
                      {q.question}
                    </td>
                    <td className="wide-only">{q.agent_name || <span className="muted">{t.gone}</span>}</td>
                    <td>{number(q.count, language)}×</td>
                    <td className="wide-only">
                      <Ago at={q.last_at} />
                    </td>
                    <td className="nowrap">
                      {can && (
                        <>
                          <AnswerIt question={q.question} />
                          <Tooltip label={t.dismiss}>
                            <ActionIcon
                              variant="subtle"
                              color="gray"
                              aria-label={`${t.dismiss}: ${q.question}`}
                              onClick={() => void dismiss(q)}
                            >
                              <IconX size={16} />
                            </ActionIcon>
                          </Tooltip>
                        </>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Card>
      {list.hasNextPage && (
        <div style={{ textAlign: "center" }}>
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {s.more}
          </Button>
        </div>
      )}
    </div>
  );
}

/** AnswerIt begins an article with a question as its title, in the base that is chosen where there are several. */
function AnswerIt({ question }: { question: string }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const bases = useList<Base>("knowledge").data ?? [];
  const go = (id: string) =>
    void navigate({ to: "/knowledge/$id", params: { id }, search: { article: "new", title: question.slice(0, 255) } });
  const icon = (open?: () => void) => (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`${t.answerIt}: ${question}`}
      title={t.answerIt}
      onClick={open}
    >
      <IconPencil size={16} />
    </ActionIcon>
  );
  if (bases.length === 0) return null;
  if (bases.length === 1) return icon(() => go(bases[0]!.id));
  return (
    <Menu position="bottom-end">
      <Menu.Target>{icon()}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.answerIt}</Menu.Label>
        {bases.map((b) => (
          <Menu.Item key={b.id} onClick={() => go(b.id)}>
            {fill(t.in, { base: b.id })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
