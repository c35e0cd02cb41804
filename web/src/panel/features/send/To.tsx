import { Pill, TagsInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { numberIn, phone } from "../../ui/number";
import type { Person } from "./message";
import { texts } from "./texts";

const several = 20; // at once; more are a list

/** To is who gets the message: numbers that are typed or pasted, and people of the company by their names. */
export function To({
  people,
  change,
  error,
  most = several,
}: {
  people: Person[];
  most?: number;
  change: (to: Person[]) => void;
  error?: ReactNode;
}) {
  const t = useTexts(texts);
  const [text, setText] = useState("");
  const found = usePeople(text);
  const nameOf = (number: string) =>
    (people.find((p) => p.number === number) ?? found.find((p) => p.number === number))?.name ?? "";
  const set = (numbers: string[]) => {
    const all = numbers.map((n) => numberIn(n) || n.trim()).filter(Boolean);
    change([...new Set(all)].slice(-most).map((number) => ({ number, name: nameOf(number) })));
  };
  return (
    <TagsInput
      label={t.number}
      description={error ? undefined : people.length > 0 && most > 1 ? t.numberMore : t.numberHelp}
      error={error}
      inputWrapperOrder={["label", "input", "description", "error"]}
      placeholder={people.length === 0 ? t.numberPlaceholder : undefined}
      autoComplete="off"
      splitChars={[",", ";", "\n"]}
      value={people.map((p) => p.number)}
      onChange={set}
      searchValue={text}
      onSearchChange={setText}
      data={found.map((p) => p.number)}
      filter={({ options }) => options}
      renderOption={({ option }) => (
        <span className="send-person">
          <span className="cut">{nameOf(option.value)}</span>
          <span className="small muted nowrap">{phone(option.value)}</span>
        </span>
      )}
      renderPill={({ value = "", onRemove }) => (
        <Pill
          withRemoveButton
          onRemove={onRemove}
          className={numberIn(value) ? undefined : "send-wrong"}
          removeButtonProps={{
            "aria-label": fill(t.removeNumber, { number: phone(value) }),
            tabIndex: 0,
            "aria-hidden": false,
          }}
        >
          {nameOf(value) ? `${nameOf(value)} · ${phone(value)}` : phone(value)}
        </Pill>
      )}
      openOnFocus={false}
      comboboxProps={{ shadow: "md" }}
    />
  );
}

/** usePeople are the company's people whose names or numbers have a text in them. */
function usePeople(text: string): Person[] {
  const company = useCompany();
  const can = useCan();
  const q = text.trim();
  const enabled = q.length > 1 && can("notifications:read") && can("conversations:read");
  const found = useQuery({
    queryKey: [company.id, "search", "people", q],
    queryFn: ({ signal }) => get("/search", { q, kind: "person" }, signal),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  if (!enabled) return [];
  const people = (found.data?.data ?? []).flatMap((h) =>
    h.kind === "person" && h.number ? [{ number: h.number, name: h.name === h.number ? "" : h.name }] : [],
  );
  return people.filter((p, i) => people.findIndex((x) => x.number === p.number) === i);
}
