import { codes, reasons } from "./texts";

/** reasonText says in short why a message ended as it did; a reason that nobody described stays as it is. */
export function reasonText(reason: string): string {
  return (reasons.now as Record<string, string>)[reason] ?? reason.replaceAll("_", " ");
}

/** codeOf is the provider's code at the beginning of its words; "": there is none. */
export function codeOf(detail: string | undefined): string {
  return /^(\d{1,7})(?:\/\d+)?(?=\s|$)/.exec(detail ?? "")?.[1] ?? "";
}

/** explained says why and what next, by the provider's code where that says more than the reason. */
export function explained(
  reason: string | undefined,
  detail: string | undefined,
): { why: string; next: string } | undefined {
  const code = codeOf(detail);
  const byCode = codes.now as Record<string, string>;
  if (code && byCode["c" + code]) return { why: byCode["c" + code]!, next: byCode[`c${code}_next`] ?? "" };
  if (!reason) return undefined;
  return { why: reasonText(reason), next: (reasons.now as Record<string, string>)[reason + "_next"] ?? "" };
}
