// The address of a trunk and the time-outs of a line, between what is stored and what a form has.

export type Transport = "udp" | "tcp" | "tls";
export const transports: Transport[] = ["udp", "tcp", "tls"];

export interface Trunk {
  host: string;
  transport: Transport;
}

/** parse reads an address such as sip:sip.example.com:5060;transport=udp. What it does not understand becomes the host. */
export function parse(address: string): Trunk {
  const m = /^(sips?):([^;]*)(?:;transport=(udp|tcp|tls))?$/i.exec(address);
  if (!m) return { host: address, transport: "udp" };
  return {
    host: m[2]!,
    transport: (m[3]?.toLowerCase() as Transport | undefined) ?? (m[1]!.toLowerCase() === "sips" ? "tls" : "udp"),
  };
}

/** compose writes an address; that of the stored one stays as it is where both mean the same. */
export function compose(t: Trunk, stored = ""): string {
  const host = t.host.trim().replace(/^sips?:/i, "");
  if (!host) return "";
  const old = parse(stored);
  return stored && old.host === host && old.transport === t.transport ? stored : `sip:${host};transport=${t.transport}`;
}

/** seconds reads a duration such as 1m30s. */
export function seconds(duration: string): number {
  const m = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(duration);
  return m ? Number(m[1] ?? 0) * 3600 + Number(m[2] ?? 0) * 60 + Number(m[3] ?? 0) : 0;
}
