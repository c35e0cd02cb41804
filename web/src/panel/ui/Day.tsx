import { TextInput } from "@mantine/core";
import { useRef } from "react";
import { useTyped } from "./typed";

const pause = 500;
const complete = (day: string): boolean => Number(day.slice(0, 4)) >= 1970; // while a year is typed it is 0002, 0020, 0202

/** Day is a date that is chosen or typed. What is not whole yet changes nothing; a field that is left in the middle shows its date again. */
export function Day({
  label,
  before,
  value = "",
  least,
  most,
  change,
}: {
  label: string;
  before?: boolean;
  value?: string;
  least?: string;
  most?: string;
  change: (to: string | undefined) => void;
}) {
  const partial = useRef(false);
  const [text, setText] = useTyped(
    value,
    (v) => change(v || undefined),
    pause,
    (v) => (partial.current || (v !== "" && !complete(v)) ? undefined : v),
  );
  const left = (field: HTMLInputElement) => {
    if (!partial.current && (text === "" || complete(text))) return;
    partial.current = false;
    field.value = "";
    setText(value);
  };
  return (
    <TextInput
      type="date"
      aria-label={label}
      {...(before ? { leftSection: <span className="small muted">{label}</span>, leftSectionWidth: 52 } : {})}
      value={text}
      min={least}
      max={most}
      onChange={(e) => {
        partial.current = e.currentTarget.validity.badInput;
        setText(e.currentTarget.value);
      }}
      onBlur={(e) => left(e.currentTarget)}
    />
  );
}
