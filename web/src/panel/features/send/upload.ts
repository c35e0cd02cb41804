import { address, Problem, Unreachable } from "../../api";
import type { Job } from "./types";

export const fileMost = 32 * 1024 * 1024;

/** upload sends a file as it is on the disk, without reading it into the page, and reports how much of it is there. */
export function upload(file: File, progress: (part: number) => void, signal: AbortSignal): Promise<Job> {
  const body = new FormData();
  body.append("file", file);
  return new Promise((resolve, reject) => {
    const r = new XMLHttpRequest();
    r.open("POST", address("/send/jobs"));
    r.setRequestHeader("X-Carillon-Panel", "1");
    r.responseType = "json";
    r.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
    r.onerror = () => reject(new Unreachable());
    r.onabort = () => reject(new DOMException("", "AbortError"));
    r.onload = () => {
      const answer = r.response as (Job & { error?: string; message?: string; details?: Record<string, unknown>; request_id?: string }) | null;
      if (r.status === 201 && answer) return resolve(answer);
      reject(new Problem(r.status, answer?.error ?? "", answer?.message ?? r.statusText, answer?.details ?? {}, answer?.request_id ?? ""));
    };
    signal.addEventListener("abort", () => r.abort());
    r.send(body);
  });
}
