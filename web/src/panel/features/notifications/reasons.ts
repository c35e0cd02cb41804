import { codes, reasons } from "./texts";

/** reasonText says in short why a message or call ended as it did; a reason that nobody described stays as it is. */
export function reasonText(reason: string, channel?: string): string {
  return said(reason, channel) ?? reason.replaceAll("_", " ");
}

/** said is the text of a reason, which some have for calls too. */
function said(reason: string, channel: string | undefined): string | undefined {
  const all = reasons.now as Record<string, string>;
  return (channel === "voice" ? all["call_" + reason] : undefined) ?? all[reason];
}

/** codeOf is the provider's code at the beginning of its words; "": there is none. */
export function codeOf(detail: string | undefined): string {
  return /^(\d{1,7})(?:\/\d+)?(?=\s|$)/.exec(detail ?? "")?.[1] ?? "";
}

/** explained says why and what next, by the provider's code where that says more than the reason. */
export function explained(
  reason: string | undefined,
  detail: string | undefined,
  channel?: string,
): { why: string; next: string } | undefined {
  const code = codeOf(detail);
  const byCode = codes.now as Record<string, string>;
  if (code && byCode["c" + code]) return { why: byCode["c" + code]!, next: byCode[`c${code}_next`] ?? "" };
  if (!reason) return undefined;
  return { why: reasonText(reason, channel), next: said(reason + "_next", channel) ?? "" };
}
