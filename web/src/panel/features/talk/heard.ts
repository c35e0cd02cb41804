/** heardOf is the beginning of a text that was heard. */
export function heardOf(text: string, heard: string): string {
  const said = heard.replace(/[\s….]+$/, "");
  return text.startsWith(said) ? said : heard;
}
