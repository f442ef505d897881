import { printable } from '../../core/text/printable.ts';

/** Text that is HTML. Only `html` makes it, so text of others can't become markup (rule S10). */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** For constants of this program. */
  static trusted(text: string): Html {
    return new Html(text);
  }
}

type Value = string | number | undefined | false | Html | readonly (Html | false | undefined)[];

/** A template whose values are escaped, unless they are HTML. What is undefined or false leaves nothing. */
export function html(pieces: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = pieces[0]!;
  for (const [i, value] of values.entries()) text += textOf(value) + pieces[i + 1]!;
  return Html.trusted(text);
}

function textOf(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return escaped(String(value));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}
