const REPLACEMENT = '\ufffd';

/**
 * Plain JSON that PostgreSQL can keep: it refuses NUL and half a surrogate pair in a text, which programs do print, for
 * example when they cut an emoji. To be used before `JSON.stringify`: in its result, `\\u0000` may be an escaped backslash.
 */
export function storable<T>(json: T): T {
  return cleaned(json) as T;
}

function cleaned(json: unknown): unknown {
  if (typeof json === 'string') return cleanText(json);
  if (Array.isArray(json)) return json.map(cleaned);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [cleanText(key), cleaned(value)]));
}

function cleanText(text: string): string {
  // With `u`, a whole pair is one character, and only a half is a surrogate.
  return text.replaceAll('\0', REPLACEMENT).replace(/\p{Cs}/gu, REPLACEMENT);
}
