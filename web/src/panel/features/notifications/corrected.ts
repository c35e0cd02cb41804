/** corrected is a request to send to one of its recipients at another number, now. */
export function corrected(
  original: { body: string; unflatten: boolean },
  n: number,
  number: string,
): Record<string, unknown> | undefined {
  if (original.unflatten) return undefined;
  const {
    contact,
    contacts,
    datetime_sending: _,
    timezone: __,
    ...rest
  } = JSON.parse(original.body) as {
    contact?: object;
    contacts?: object[];
    datetime_sending?: string;
    timezone?: string;
  };
  const { user_id: ___, ...who } = (contacts?.[n] ?? contact ?? {}) as { user_id?: string };
  return { ...rest, contact: { ...who, number } };
}
