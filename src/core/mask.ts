/**
 * Secrets never rest (promise S4): whatever is written to a transcript, the journal, the table or a terminal goes
 * through a mask first, which puts `[NAME]` where a value, or one of its usual encodings, stands.
 */
export interface Mask {
  text(text: string): string;
  /** Plain JSON with every string masked, keys too. */
  deep<T>(json: T): T;
  /** The same result as `text` over the whole, however the text is cut into chunks. */
  stream(): MaskStream;
}

export interface MaskStream {
  /** What can be shown by now; the possible beginning of a value is held back until it is decided. */
  push(chunk: string): string;
  end(): string;
}

/** Shorter values (`1`, `true`, `8080`) are in every text, and masking them would wreck it. */
const SHORTEST = 6;

export function createMask(secrets: Readonly<Record<string, string>>): Mask {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(secrets)) {
    for (const form of formsOf(value)) if (!names.has(form)) names.set(form, name);
  }
  const forms = indexForms([...names.keys()]);

  /** From left to right, the longest form where several begin. Unless `ended`, it stops where more text would decide. */
  const scan = (text: string, ended: boolean): { shown: string; held: string } => {
    let shown = '';
    let copied = 0;
    let at = forms.next(text, 0);
    while (at < text.length) {
      if (!ended && forms.mayGrow(text, at)) return { shown: shown + text.slice(copied, at), held: text.slice(at) };
      const form = forms.longestAt(text, at);
      if (form !== undefined) {
        shown += `${text.slice(copied, at)}[${names.get(form)}]`;
        copied = at + form.length;
      }
      at = forms.next(text, at + (form?.length ?? 1));
    }
    return { shown: shown + text.slice(copied), held: '' };
  };
  const text = (unsafe: string): string => scan(unsafe, true).shown;

  return {
    text,
    deep: (json) => maskDeep(json, text) as typeof json,
    stream() {
      let held = '';
      const take = (chunk: string, ended: boolean): string => {
        const result = scan(held + chunk, ended);
        held = result.held;
        return result.shown;
      };
      return { push: (chunk) => take(chunk, false), end: () => take('', true) };
    },
  };
}

/**
 * A table of forms by how they begin. One regular expression of all forms did 2 MB/s for 20 secrets and a key; this does
 * more than 30, and an agent may print a lot.
 */
function indexForms(forms: readonly string[]) {
  const byHead = new Map<string, string[]>();
  const beginnings = new Set<string>();
  const plausible = new Uint8Array(1 << 16);
  const pair = (text: string, at: number): number =>
    ((text.charCodeAt(at) & 255) << 8) | (text.charCodeAt(at + 1) & 255);
  for (const form of [...forms].sort((a, b) => b.length - a.length)) {
    const head = form.slice(0, SHORTEST);
    byHead.set(head, [...(byHead.get(head) ?? []), form]);
    for (let length = 1; length < SHORTEST; length++) beginnings.add(form.slice(0, length));
    plausible[pair(form, 0)] = 1;
  }
  const candidates = (text: string, at: number): readonly string[] => byHead.get(text.slice(at, at + SHORTEST)) ?? [];
  return {
    /** The next place from `at` on where a form may begin, or the end. */
    next(text: string, at: number): number {
      while (at < text.length - 1 && plausible[pair(text, at)] === 0) at += 1;
      return at;
    },
    longestAt: (text: string, at: number): string | undefined =>
      candidates(text, at).find((form) => text.startsWith(form, at)),
    /** Whether all that is left of the text is the beginning of a form. */
    mayGrow(text: string, at: number): boolean {
      const rest = text.length - at;
      if (rest < SHORTEST) return beginnings.has(text.slice(at));
      return candidates(text, at).some((form) => form.length > rest && form.startsWith(text.slice(at)));
    },
  };
}

function maskDeep(json: unknown, text: Mask['text']): unknown {
  if (typeof json === 'string') return text(json);
  if (Array.isArray(json)) return json.map((element) => maskDeep(element, text));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [text(key), maskDeep(value, text)]));
}

/** The ways in which programs print a value. */
function formsOf(value: string): Set<string> {
  const forms = new Set<string>();
  const trimmed = value.trim();
  // Tools print the lines of a key one by one, with something before each.
  const lines = trimmed.includes('\n') ? trimmed.split(/\r?\n/).map((line) => line.trim()) : [];
  for (const raw of [value, trimmed, ...lines]) {
    if (raw.length < SHORTEST) continue;
    for (const form of [raw, ...jsonForms(raw), ...urlForms(raw), ...base64Forms(raw)]) {
      if (form.length >= SHORTEST) forms.add(form);
    }
  }
  return forms;
}

/** As JavaScript writes a string, and as encoders do that keep to ASCII or escape the slash. */
function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const ascii = plain.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [plain, ascii, plain.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/')];
}

/** What encoders leave as it is: JavaScript, RFC 3986, Python, HTML forms and Java, PHP. */
const KEPT_IN_URLS = [/[\w.~!'()*-]/, /[\w.~-]/, /[\w.~/-]/, /[\w.*-]/, /[\w.-]/];

/** They also differ in `+` for a space, and in the case of digits. */
function urlForms(value: string): string[] {
  const bytes = [...Buffer.from(value, 'utf8')];
  return KEPT_IN_URLS.flatMap((kept) => {
    const encode = (byte: number): string => {
      const character = String.fromCharCode(byte);
      return byte < 128 && kept.test(character) ? character : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
    };
    const upper = bytes.map(encode).join('');
    const lower = upper.replace(/%../g, (code) => code.toLowerCase());
    return [upper, lower, upper.replaceAll('%20', '+'), lower.replaceAll('%20', '+')];
  });
}

/**
 * The value alone (also broken into lines, as `base64` and `openssl` do), and the part of the encoding that is the same
 * whatever stands before and after it: `user:value`, or a value with the newline that `echo` adds.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const whole = bytes.toString('base64');
  const forms = [
    whole,
    whole.replace(/=+$/, ''),
    ...[64, 76].map((width) => whole.replace(new RegExp(`(.{${width}})(?=.)`, 'g'), '$1\n')),
  ];
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Each character holds 6 bits: only those that hold nothing but bits of the value.
    forms.push(encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)));
  }
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
