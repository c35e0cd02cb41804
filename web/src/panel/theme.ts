// Mantine in the colours and measures of shared/tokens.css.
import {
  Button,
  createTheme,
  defaultVariantColorsResolver,
  Modal,
  Tooltip,
  type CSSVariablesResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from "@mantine/core";

const accent: MantineColorsTuple = [
  "#eef2fd",
  "#dbe4fb",
  "#b7c8f6",
  "#8fa9f0",
  "#7d9bff",
  "#4b74e2",
  "#2f5bd7",
  "#264bb4",
  "#1e3c91",
  "#162d6e",
];
const gray: MantineColorsTuple = [
  "#f6f5f3",
  "#f1f0ee",
  "#e7e5e2",
  "#dedcd8",
  "#c9c6c1",
  "#8f8b85",
  "#625f5a",
  "#4a4844",
  "#33312e",
  "#1d1c1a",
];
const dark: MantineColorsTuple = [
  "#f0eeea",
  "#d5d2cc",
  "#a9a59e",
  "#8d8983",
  "#3a3834",
  "#34322f",
  "#1f1e1c",
  "#171614",
  "#131211",
  "#0e0d0c",
];

/** tones are the colours that a component may be given by name, as tokens. */
const tones: Record<string, { main: string; on: string; soft: string; text: string }> = {
  accent: { main: "var(--accent)", on: "var(--on-accent)", soft: "var(--accent-soft)", text: "var(--accent-text)" },
  red: { main: "var(--danger)", on: "var(--on-danger)", soft: "var(--danger-soft)", text: "var(--danger)" },
  green: { main: "var(--ok)", on: "var(--on-ok)", soft: "var(--ok-soft)", text: "var(--ok)" },
};

const variantColorResolver: VariantColorsResolver = (input) => {
  const base = defaultVariantColorsResolver(input);
  const tone = tones[String(input.color ?? input.theme.primaryColor)];
  if (!tone) return base;
  const border = "1px solid transparent";
  switch (input.variant) {
    case "filled":
      return {
        background: tone.main,
        hover: `color-mix(in srgb, ${tone.main} 88%, var(--text))`,
        color: tone.on,
        border,
      };
    case "light":
      return {
        background: tone.soft,
        hover: `color-mix(in srgb, ${tone.soft} 90%, ${tone.main})`,
        color: tone.text,
        border,
      };
    case "subtle":
      return { background: "transparent", hover: tone.soft, color: tone.text, border };
    default:
      return base;
  }
};

const variables: Record<string, string> = {
  "--mantine-color-body": "var(--surface)",
  "--mantine-color-text": "var(--text)",
  "--mantine-color-bright": "var(--text)",
  "--mantine-color-dimmed": "var(--muted)",
  "--mantine-color-placeholder": "var(--muted)",
  "--mantine-color-error": "var(--danger)",
  "--mantine-color-anchor": "var(--accent-text)",
  "--mantine-color-default": "var(--surface)",
  "--mantine-color-default-hover": "var(--surface-2)",
  "--mantine-color-default-color": "var(--text)",
  "--mantine-color-default-border": "var(--border)",
  "--mantine-primary-color-filled": "var(--accent)",
  "--mantine-color-disabled": "var(--surface-2)",
  "--mantine-color-disabled-color": "var(--muted)",
  "--mantine-color-disabled-border": "var(--border)",
  "--mantine-primary-color-contrast": "var(--on-accent)",
};

export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: {}, light: variables, dark: variables });

export const theme = createTheme({
  primaryColor: "accent",
  primaryShade: { light: 6, dark: 4 },
  colors: { accent, gray, dark },
  variantColorResolver,
  autoContrast: true,
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--mono)",
  fontSizes: { xs: "12.5px", sm: "14px", md: "14px", lg: "16px", xl: "20px" },
  lineHeights: { xs: "1.4", sm: "1.5", md: "1.5", lg: "1.5", xl: "1.4" },
  headings: {
    fontFamily: "var(--font)",
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "20px", lineHeight: "1.35" },
      h2: { fontSize: "16px", lineHeight: "1.4" },
      h3: { fontSize: "14px", lineHeight: "1.45" },
    },
  },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
  radius: { xs: "4px", sm: "6px", md: "6px", lg: "10px", xl: "16px" },
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  focusRing: "auto",
  components: {
    Button: Button.extend({ defaultProps: { size: "sm" }, styles: { label: { fontWeight: 550 } } }),
    Modal: Modal.extend({
      defaultProps: {
        radius: "lg",
        centered: true,
        overlayProps: { backgroundOpacity: 0.4 },
        transitionProps: { duration: 120 },
      },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 300, withArrow: false, transitionProps: { duration: 100 } } }),
  },
});
