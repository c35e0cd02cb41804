/** QR draws a QR code, given as rows of 0 and 1: black on white in each theme, as cameras expect it. */
export function QR({ rows, label }: { rows: string[]; label: string }) {
  const border = 4; // modules of white that a reader needs
  const size = rows.length + 2 * border;
  const path = rows
    .flatMap((row, y) => [...row].map((on, x) => (on === "1" ? `M${x + border} ${y + border}h1v1h-1z` : "")))
    .join("");
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      width={208}
      height={208}
      shapeRendering="crispEdges"
      style={{ background: "#fff", borderRadius: 8, flex: "none" }}
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
