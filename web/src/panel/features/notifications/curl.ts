export interface Asked {
  channel: "messaging" | "voice";
  unflatten: boolean;
  body: string;
}

/** curlOf is the command that makes a request again; the key is a variable of the shell. */
export function curlOf(base: string, r: Asked): string {
  const path = r.channel === "voice" ? "notify/voice" : "notify";
  let body = r.body;
  try {
    body = JSON.stringify(JSON.parse(r.body));
  } catch {
    /* as it came */
  }
  return `curl "${base}/functions/v1/${path}?access_key=$CARILLON_ACCESS_KEY${r.unflatten ? "&unflatten=true" : ""}" \\\n  -H 'Content-Type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`;
}
