const paths = {
  more: "M12 6.5h.01M12 12h.01M12 17.5h.01",
  close: "M6 6l12 12M18 6L6 18",
  send: "M4.5 12l15-7.5-5 15-3-6.5-7-1z",
  clip: "M20 11.5l-8.2 8.2a5 5 0 01-7-7l8.7-8.7a3.3 3.3 0 014.7 4.7l-8.6 8.6a1.7 1.7 0 01-2.4-2.4l7.9-7.9",
  file: "M14 3H7a2 2 0 00-2 2v14a2 2 0 002 2h10a2 2 0 002-2V8l-5-5zM14 3v5h5",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9L3.500 9.700l5.900-.8z",
  thumb:
    "M7 10.500v9.500H4v-9.500zM7 10.500l4-7c1.500 0 2.500 1 2.500 2.500v3.500h5a1.500 1.500 0 011.500 1.800l-1.300 6.500a2 2 0 01-2 1.700H7",
  mic: "M12 3.5a2.8 2.8 0 00-2.8 2.8v5.2a2.8 2.8 0 005.6 0V6.3A2.8 2.8 0 0012 3.5zM6.3 11.3a5.7 5.7 0 0011.4 0M12 17v3.5",
  loud: "M4 9.8v4.4h3.2L12 18V6L7.2 9.8zM15.5 9a4.2 4.2 0 010 6M18 6.5a7.8 7.8 0 010 11",
  down: "M12 5v14M6 13l6 6 6-6",
};

export function Icon({ name, filled = false }: { name: keyof typeof paths; filled?: boolean }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="20"
      height="20"
      fill={filled ? "currentColor" : "none"}
      stroke="currentColor"
      stroke-width={name === "more" ? 2.6 : 1.8}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
