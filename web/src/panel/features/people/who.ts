/** Who says which person is meant: by one of the three. */
export interface Who {
  number?: string;
  user_id?: string;
  contact_id?: string;
}

/** whoOf reads what was typed: an id of a contact, an id of the channel, or a number however it is grouped. */
export function whoOf(typed: string): Who | null {
  const text = typed.trim();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return { contact_id: text.toLowerCase() };
  if (/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/.test(text)) return { user_id: text };
  const digits = text.replace(/^\+|[\s()./-]/g, "");
  return /^\d{7,15}$/.test(digits) ? { number: digits } : null;
}

/** wordOf is the word that has to be typed before an erasure: the one that was given, or the first identity of a contact. */
export function wordOf(who: Who, identities: string[]): string {
  return who.number ?? who.user_id ?? identities[0] ?? who.contact_id ?? "";
}
