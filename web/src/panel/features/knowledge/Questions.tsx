import { Button } from "@mantine/core";
import { IconMessageQuestion } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { get, type Page as Part } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { QuestionGroup } from "./types";
import { Card, Empty, Failed, Rows } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { Group } from "./QuestionGroup";
import { questionTexts, texts } from "./texts";

/** Questions lists the open questions in groups, each with the nearest article. */
export function Questions() {
  const t = useTexts(texts);
  const q = useTexts(questionTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const list = useInfiniteQuery({
    queryKey: [company.id, "questions"],
    initialPageParam: "",
    getNextPageParam: (last: Part<QuestionGroup>) => last.next_cursor ?? undefined,
    queryFn: ({ pageParam, signal }) => get("/questions/groups", { cursor: pageParam, limit: 20 }, signal),
  });
  if (list.isPending) return <Rows />;
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  const groups = list.data.pages.flatMap((p) => p.data);
  return (
    <div className="stack">
      <p className="muted" style={{ margin: 0 }}>
        {q.help}
      </p>
      <Card flush label={t.questions}>
        {groups.length === 0 ? (
          <Empty icon={<IconMessageQuestion size={22} />} title={t.noQuestions} text={t.noQuestionsText} />
        ) : (
          <ul className="question-groups">
            {groups.map((g) => (
              <Group key={g.id} group={g} />
            ))}
          </ul>
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
