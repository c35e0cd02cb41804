import { useTexts } from "../../i18n";
import { Tag, type Tone } from "../../ui/parts";
import { jobTexts } from "./texts";
import type { JobRow } from "./types";

const tones: Partial<Record<JobRow["state"], Tone>> = {
  checking: "accent",
  checked: "accent",
  sending: "accent",
  canceling: "warn",
  paused: "warn",
  done: "ok",
  failed: "danger",
};

/** JobTag is the state of a job. */
export function JobTag({ job }: { job: JobRow }) {
  const t = useTexts(jobTexts);
  return <Tag tone={tones[job.state]}>{t[job.state]}</Tag>;
}
