import type { ApiCallPage } from "./types";

/** curlOf is the command that makes a call again; the key is a variable of the shell. undefined: its body is not whole. */
export function curlOf(base: string, c: ApiCallPage): string | undefined {
  if (c.body_cut || (!c.body_read && c.method !== "GET" && c.method !== "DELETE")) return undefined;
  const rest = c.query
    .split("&")
    .filter((p) => p && !/^(access_key|access%5Fkey)=/i.test(p))
    .join("&");
  const quote = (s: string) => "'" + s.replaceAll("'", "'\\''") + "'";
  const lines = [
    `curl ${c.method === "GET" ? "" : `-X ${c.method} `}"${base}${c.path}?access_key=$CARILLON_ACCESS_KEY${rest ? "&" + rest.replace(/["$`\\]/g, encodeURIComponent) : ""}"`,
  ];
  if (c.content_type) lines.push(`-H ${quote("Content-Type: " + c.content_type)}`);
  if (c.body) lines.push(`-d ${quote(c.body)}`);
  return lines.join(" \\\n  ");
}
