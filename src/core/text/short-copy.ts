const LONGEST_REASON = 2000;
const NOTHING = Object.freeze({});

/** A copy of the beginning of a text. A slice would keep the whole text in memory. */
export function copyOf(text: string, most = LONGEST_REASON): string {
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return Buffer.from(cut).toString();
}

export function copyOfValues(
  values: Readonly<Record<string, string>> = {},
  most = LONGEST_REASON,
): Readonly<Record<string, string>> {
  const entries = Object.entries(values);
  if (entries.length === 0) return NOTHING;
  // A value in a journal may be anything.
  return Object.fromEntries(entries.map(([name, value]) => [name, copyOf(String(value), most)]));
}
