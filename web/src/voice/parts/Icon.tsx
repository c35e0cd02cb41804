const paths = {
  close: "M6 6l12 12M18 6L6 18",
  down: "M6 9l6 6 6-6",
  send: "M4.5 12l15-7.5-5 15-3-6.5-7-1z",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9-4.3-4.1 5.9-.8z",
  mic: "M12 3.5a2.8 2.8 0 00-2.8 2.8v5.2a2.8 2.8 0 005.6 0V6.3A2.8 2.8 0 0012 3.5zM6.3 11.3a5.7 5.7 0 0011.4 0M12 17v3.5",
  micOff:
    "M9.2 9.2v2.3a2.8 2.8 0 004.6 2.1M14.8 10.4V6.3a2.8 2.8 0 00-5.3-1.2M6.3 11.3a5.7 5.7 0 009 4.7M17.7 11.3a5.6 5.6 0 01-.4 2.1M12 17v3.5M4.5 4.5l15 15",
  chat: "M4 5h16v11H10l-4.5 4V16H4z",
  keys: "M3.5 7.5h17V17h-17zM7 10.8h.01M10.3 10.8h.01M13.7 10.8h.01M17 10.8h.01M8.5 14h7",
  phone:
    "M3.6 14.6c-.5-1.7-.2-3.2 1.1-4 4.3-2.5 10.3-2.5 14.6 0 1.3.8 1.6 2.3 1.1 4-.2.7-.9 1.1-1.6.9l-2.3-.6c-.6-.2-1-.7-1-1.3l-.1-1.2c-2.2-.7-4.6-.7-6.8 0l-.1 1.2c0 .6-.4 1.1-1 1.3l-2.3.6c-.7.2-1.4-.2-1.6-.9z",
  loud: "M4 9.8v4.4h3.2L12 18V6L7.2 9.8zM15.5 9a4.2 4.2 0 010 6M18 6.5a7.8 7.8 0 010 11",
  quiet: "M4 9.8v4.4h3.2L12 18V6L7.2 9.8zM15.8 9.5l5 5M20.8 9.5l-5 5",
  person: "M12 11.5a3.8 3.8 0 100-7.5 3.8 3.8 0 000 7.5zM4.8 20c.6-3.7 3.5-5.8 7.2-5.8s6.6 2.1 7.2 5.8",
  check: "M5 12.5l4.5 4.5L19 7.5",
  copy: "M9 9V5.5h9.5V15H15M5.5 9H15v9.5H5.5z",
  alert: "M12 8v5M12 16.3h.01M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17z",
};

export function Icon({
  name,
  filled = false,
  size = 20,
}: {
  name: keyof typeof paths;
  filled?: boolean;
  size?: number;
}) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill={filled ? "currentColor" : "none"}
      stroke="currentColor"
      stroke-width={1.8}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
