import type { ReactNode } from "react";
import { Select } from "@mantine/core";
import { fill, useTexts } from "../../i18n";
import { jobTexts } from "./texts";
import type { Settings } from "./types";
import type { Edit } from "./useJob";

const fields = ["first_name", "last_name", "name", "email"] as const;

/** Mapping is the first rows of the file, with what each column is above it. */
export function Mapping({
  settings: s,
  edit,
  fault,
}: {
  settings: Settings;
  edit: (e: Edit, at?: number) => void;
  fault?: ReactNode;
}) {
  const t = useTexts(jobTexts);
  const role = (i: number) =>
    s.number === i
      ? "number"
      : (fields.find((f) => s.fields[f] === i) ?? Object.entries(s.values).find(([, v]) => v.column === i)?.[0] ?? "");
  const choose = (i: number, to: string | null) => {
    const kept = Object.fromEntries(Object.entries(s.fields).filter(([f, c]) => c !== i && f !== to));
    if (to === "number") return edit({ number: i, fields: kept }, 0);
    const lost = s.number === i ? { number: -1 } : {};
    edit({ ...lost, fields: to && fields.some((f) => f === to) ? { ...kept, [to]: i } : kept }, 0);
  };
  const rows = Math.max(0, ...s.columns.map((c) => c.samples.length));
  return (
    <>
      {fault && (
        <p className="send-fault" role="alert">
          {fault}
        </p>
      )}
      <div className="table-wrap send-sheet" tabIndex={0} role="region" aria-label={t.firstRows}>
        <table className="table">
          <thead>
            <tr>
              {s.columns.map((c, i) => (
                <th key={i} scope="col">
                  <span className="cut send-column" title={c.name}>
                    {c.name}
                  </span>
                  <Select
                    size="xs"
                    aria-label={fill(t.columnIs, { name: c.name })}
                    value={[...fields, "number"].includes(role(i)) ? role(i) : ""}
                    allowDeselect={false}
                    checkIconPosition="right"
                    onChange={(v) => choose(i, v)}
                    comboboxProps={{ width: 220, position: "bottom-start" }}
                    data={[
                      {
                        value: "",
                        label: role(i) && !["number", ...fields].includes(role(i)) ? t.isValue : t.isNothing,
                      },
                      { value: "number", label: t.isNumber },
                      ...fields.map((f) => ({ value: f, label: t[f] })),
                    ]}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: rows }, (_, r) => (
              <tr key={r}>
                {s.columns.map((c, i) => (
                  <td key={i}>
                    <span className="send-cell cut" title={c.samples[r]}>
                      {c.samples[r] || <span className="muted">–</span>}
                    </span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
