// How well colours can be told apart (WCAG 2.2, relative luminance and contrast ratio).

/** luminance is that of #rrggbb, from 0 to 1. */
export function luminance(hex: string): number {
  const part = (at: number) => {
    const v = parseInt(hex.slice(at, at + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

/** onColour is the text colour that a widget uses on a colour of the company. */
export function onColour(hex: string): string {
  return luminance(hex) > 0.36 ? "#15130f" : "#ffffff";
}

/** contrast is the ratio between two colours, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** darker is a colour of the same hue on which white text has a contrast of 4.5 or more. */
export function darker(hex: string): string {
  let parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const text = () => "#" + parts.map((p) => Math.round(p).toString(16).padStart(2, "0")).join("");
  for (let n = 0; n < 100 && contrast(text(), "#ffffff") < 4.5; n++) parts = parts.map((p) => p * 0.97);
  return text();
}
