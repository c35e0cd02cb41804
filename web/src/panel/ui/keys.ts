/** writing reports whether keys go into a text: shortcuts of one letter must leave them alone. */
export function writing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) &&
        !/^(checkbox|radio|button|submit)$/.test((target as HTMLInputElement).type)))
  );
}
