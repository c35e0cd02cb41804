import { Button, TextInput, type TextInputProps } from "@mantine/core";
import { useTexts } from "../../i18n";
import { texts } from "./texts";

const letters = "abcdefghijkmnpqrstuvwxyz23456789";

/** invented is a password of 95 random bits, in groups that can be read out. */
export function invented(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(19));
  const text = Array.from(bytes, (b) => letters[b % letters.length]).join("");
  return text.match(/.{1,5}/g)!.join("-");
}

/** PasswordField takes a password for somebody else: it is shown, for it is passed on. */
export function PasswordField({ invent, ...props }: TextInputProps & { invent: () => void }) {
  const t = useTexts(texts);
  return (
    <TextInput
      {...props}
      autoComplete="off"
      spellCheck={false}
      styles={{ input: { fontFamily: "var(--mono)" } }}
      rightSection={
        <Button variant="subtle" size="compact-xs" onClick={invent}>
          {t.generate}
        </Button>
      }
      rightSectionWidth={120}
    />
  );
}
