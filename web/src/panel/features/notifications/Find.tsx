import { Loader, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { useTexts } from "../../i18n";
import { writing } from "../../ui/keys";
import { problemText } from "../../ui/problem";
import { lookUp } from "./lookup";
import { texts } from "./texts";

/** Find goes to what an id or a number belongs to. The key / leads to it. */
export function Find() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<ReactNode>("");
  useEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || writing(e.target)) return;
      e.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    window.addEventListener("keydown", keys);
    return () => window.removeEventListener("keydown", keys);
  }, []);
  const find = async () => {
    if (!text.trim() || busy) return;
    setBusy(true);
    setFault("");
    try {
      const place = await lookUp(text);
      if (!place) {
        setFault(t.notFound);
        return;
      }
      setText("");
      void navigate(place);
    } catch (e) {
      setFault(problemText(e));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="sent-find"
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        void find();
      }}
    >
      <TextInput
        ref={field}
        aria-label={t.find}
        placeholder={t.find}
        title={t.findHelp}
        value={text}
        maxLength={300}
        error={fault}
        autoComplete="off"
        spellCheck={false}
        onChange={(e) => {
          setText(e.currentTarget.value);
          setFault("");
        }}
        leftSection={<IconSearch size={16} aria-hidden="true" />}
        rightSection={busy ? <Loader size={14} aria-label={t.finding} /> : <kbd aria-hidden="true">/</kbd>}
      />
    </form>
  );
}
