import { notifications } from "@mantine/notifications";
import { Problem, Unreachable } from "../api";
import { shared } from "./texts";

/** problemText says what went wrong, in the language of the page; the reason that the server gives comes behind it. */
export function problemText(e: unknown): string {
  const t = shared.now;
  if (e instanceof Unreachable) return t.unreachable;
  if (!(e instanceof Problem)) return t.failed;
  const known = (t as Record<string, string>)[e.code] ?? e.message;
  return e.reason && e.status < 500 && e.status !== 404 ? `${known}: ${e.reason}` : known;
}

/** requestOf is the id to quote when the failure is reported; "" where there is none. */
export function requestOf(e: unknown): string {
  return e instanceof Problem ? e.requestId : "";
}

/** succeeded shows that something worked, for some seconds. */
export function succeeded(text: string): void {
  notifications.show({
    message: text,
    autoClose: 3500,
    withBorder: true,
    color: "accent",
    closeButtonProps: { "aria-label": shared.now.close },
  });
}

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
  form: { setFieldError: (field: string, text: string) => void; getValues: () => object },
): boolean {
  if (!(e instanceof Problem) || !e.field || !(e.field.split(".")[0]! in form.getValues())) return false;
  form.setFieldError(e.field, e.reason || e.message);
  return true;
}
