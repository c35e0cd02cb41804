import { IconPaperclip } from "@tabler/icons-react";
import "./media.css";

/** ChatFile is a file of a conversation. It has no address when it is missing. */
export interface ChatFile {
  id: string;
  name: string;
  type: string;
  size: number;
  url?: string;
}

const size = (n: number): string =>
  n < 1 << 20 ? Math.max(1, Math.round(n / 1024)) + " kB" : (n / (1 << 20)).toFixed(1) + " MB";

/** MediaFile shows a file of a conversation: pictures are seen, recordings and films played, others opened. label is the word for a file. */
export function MediaFile({ file, label }: { file: ChatFile; label: string }) {
  const name = `${label}: ${file.name}`;
  if (!file.url)
    return (
      <div className="media-file">
        <IconPaperclip size={16} aria-hidden />
        {file.name}
      </div>
    );
  if (/^audio\/(ogg|mpeg|mp4|aac|wav)$/.test(file.type))
    return <audio className="media-sound" controls preload="metadata" src={file.url} aria-label={name} />;
  if (file.type === "video/mp4")
    return <video className="media-film" controls preload="metadata" src={file.url} aria-label={name} />;
  const picture = /^image\/(png|jpeg|gif|webp)$/.test(file.type);
  return (
    <a
      className={picture ? "media-picture" : "media-file"}
      href={file.url}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={name}
    >
      {picture ? (
        <img src={file.url} alt={file.name} loading="lazy" />
      ) : (
        <>
          <IconPaperclip size={16} aria-hidden />
          <span>{file.name}</span>
          <small>{size(file.size)}</small>
        </>
      )}
    </a>
  );
}
