// What the tests of lists have in common.

/** narrow sets a filter of a list: to a text, or to one of its values. */
export async function narrow(p, filter, { text, value }) {
  await p.getByRole("button", { name: "Filter", exact: true }).click();
  await p.getByRole("menuitem", { name: filter, exact: true }).click();
  const form = p.getByRole("dialog", { name: filter });
  if (value) {
    await form.getByRole("button", { name: value, exact: true }).click();
    return;
  }
  await form.getByRole("textbox").fill(text);
  await form.getByRole("button", { name: "Apply" }).click();
}

/** chip is an active filter of a list. */
export const chip = (p, id) => p.locator(`[data-filter="${id}"]`);

/** act chooses an entry of the ⋯ menu of a page's head, or of the row whose name is `of`. */
export async function act(p, entry, of) {
  await p.getByRole("button", { name: of ? `Actions for ${of}` : "More actions", exact: true }).click();
  await p.getByRole("menuitem", { name: entry, exact: true }).click();
}
