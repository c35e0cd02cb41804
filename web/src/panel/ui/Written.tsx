import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

/** Written is a filter that is typed; the list follows when the typing pauses and the text can be looked for. */
export function Written({ label, value, type, change, fits }: { label: string; value: string; type?: string; change: (to: string) => void; fits: (text: string) => boolean }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value || !fits(text.trim())) return;
    const timer = setTimeout(() => change(text.trim()), 350);
    return () => clearTimeout(timer);
  }, [text, value]);
  return <TextInput aria-label={label} placeholder={label} type={type ?? "text"} value={text} maxLength={255} onChange={(e) => setText(e.currentTarget.value)} />;
}
