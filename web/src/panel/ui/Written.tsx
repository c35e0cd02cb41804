import { TextInput } from "@mantine/core";
import { useTyped } from "./typed";

/** Written is a filter that is typed; the list follows when the typing pauses and the text can be looked for. */
export function Written({
  label,
  value,
  type,
  change,
  fits,
}: {
  label: string;
  value: string;
  type?: string;
  change: (to: string) => void;
  fits: (text: string) => boolean;
}) {
  const [text, setText] = useTyped(value, change, 350, (s) => (fits(s.trim()) ? s.trim() : undefined));
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      type={type ?? "text"}
      value={text}
      maxLength={255}
      onChange={(e) => setText(e.currentTarget.value)}
    />
  );
}
