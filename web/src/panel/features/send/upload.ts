import { address, Problem, Unreachable } from "../../api";
import type { Job } from "./types";

export const fileMost = 32 * 1024 * 1024;

const silence = 60_000; // without progress; then the line is taken for dead
const reading = 180_000; // once all is there

/**
 * upload sends a file as it is on the disk, without reading it into the page, and reports how much of it is there. Of the same key the server
 * makes one job, so that a file can be sent again whose response was lost.
 */
export function upload(file: File, key: string, progress: (part: number) => void, signal: AbortSignal): Promise<Job> {
  const body = new FormData();
  body.append("file", file);
  return new Promise((resolve, reject) => {
    const r = new XMLHttpRequest();
    r.open("POST", address("/send/jobs"));
    r.setRequestHeader("X-Carillon-Panel", "1");
    r.responseType = "json";
    r.setRequestHeader("Idempotency-Key", key);
    let timer: ReturnType<typeof setTimeout>;
    const wait = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        reject(new Unreachable());
        r.abort();
      }, ms);
    };
    wait(silence);
    r.upload.onprogress = (e) => {
      wait(silence);
      if (e.lengthComputable) progress(e.loaded / e.total);
    };
    r.upload.onload = () => {
      progress(1);
      wait(reading);
    };
    r.onloadend = () => clearTimeout(timer);
    r.onerror = () => reject(new Unreachable());
    r.onabort = () => reject(new DOMException("", "AbortError"));
    r.onload = () => {
      const answer = r.response as
        | (Job & {
            error?: string;
            message?: string;
            details?: Record<string, unknown>;
            request_id?: string;
            retry_after?: number;
          })
        | null;
      if (r.status === 201 && answer) return resolve(answer);
      reject(
        new Problem(
          r.status,
          answer?.error ?? "",
          answer?.message ?? r.statusText,
          answer?.details ?? {},
          answer?.request_id ?? "",
          answer?.retry_after ?? 0,
        ),
      );
    };
    signal.addEventListener("abort", () => r.abort());
    r.send(body);
  });
}
