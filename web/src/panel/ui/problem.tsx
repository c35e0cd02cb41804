import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";
import { Problem, Unreachable } from "../api";
import { currentLanguage } from "../i18n";
import { English } from "./English";
import { englishOf, sentenceOf, type Reason } from "./rules";
import { shared } from "./texts";

/** because is a reason in the language of the page, else a general text with the server's English sentence behind it. */
export function because(x: Reason | undefined, general = shared.now.invalid): ReactNode {
  const english = englishOf(x);
  return sentenceOf(x) || (english && behind(general, english));
}

function behind(general: string, english: string): ReactNode {
  if (currentLanguage() === "en") return <English>{english}</English>;
  return (
    <>
      {general} <English>{english}</English>
    </>
  );
}

/** textOf is what the code of a failure means, in the language of the page. */
function textOf(e: unknown): string {
  const t = shared.now;
  if (e instanceof Unreachable) return t.unreachable;
  return (e instanceof Problem && (t as Record<string, string>)[e.code]) || t.failed;
}

/** why is what is wrong with a field, or why something was refused: the reason, else what the code means. */
export function why(e: unknown): ReactNode {
  return (e instanceof Problem && because(e.details)) || textOf(e);
}

/** problemText says what went wrong, in the language of the page. */
export function problemText(e: unknown): ReactNode {
  if (e instanceof Refused) return e.message;
  if (!(e instanceof Problem) || e.status >= 500 || e.status === 404) return textOf(e);
  if (e.code !== "validation_failed") return because(e.details, shared.now.refused) || textOf(e);
  return (
    <>
      {textOf(e)} {because(e.details, "")}
    </>
  );
}

/** requestOf is the id to quote when the failure is reported; "" where there is none. */
export function requestOf(e: unknown): string {
  return e instanceof Problem ? e.requestId : "";
}

/** succeeded shows that something worked, for some seconds. */
export function succeeded(text: ReactNode): void {
  notifications.show({
    message: text,
    autoClose: 3500,
    withBorder: true,
    color: "accent",
    closeButtonProps: { "aria-label": shared.now.close },
  });
}

/** Refused is why an action wasn't done, in the language of the page. */
export class Refused extends Error {}

/** Canceled is thrown where the member decides not to go on: it is no failure to show. */
export class Canceled extends Error {}

/** failed shows a failure until it is closed. */
export function failed(e: unknown): void {
  if (e instanceof Canceled) return;
  const id = requestOf(e);
  const t = shared.now;
  notifications.show({
    title: problemText(e),
    message: id ? `${t.requestId} ${id}` : "",
    color: "red",
    autoClose: 12_000,
    withBorder: true,
    role: "alert",
    closeButtonProps: { "aria-label": t.close },
  });
}

/** fieldErrors gives a form the error of the field that the server names; it reports whether the form has that field. */
export function fieldErrors(
  e: unknown,
  form: { setFieldError: (field: string, text: ReactNode) => void; getValues: () => object },
): boolean {
  if (!(e instanceof Problem) || !e.field || !(e.field.split(".")[0]! in form.getValues())) return false;
  form.setFieldError(e.field, why(e));
  return true;
}
