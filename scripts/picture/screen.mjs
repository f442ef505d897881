const STYLES = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' };
const ENDS = new Set([0, 22, 39]);

/** A terminal that knows what the live view uses: line feeds, cursor up and right, erasing a line, six styles. */
export class Screen {
  #columns;
  #height;
  /** Each row is a list of cells. */
  #rows = [[]];
  #row = 0;
  #column = 0;
  #style;

  constructor(columns, height) {
    this.#columns = columns;
    this.#height = height;
  }

  write(text) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as a terminal reads
    for (const [token, amount, command] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[\s\S]/gu)) {
      if (command === 'A') this.#row -= Number(amount);
      else if (command === 'C') this.#column += Number(amount);
      else if (command === 'K') this.#rows[this.#row].length = amount === '2' ? 0 : this.#column;
      else if (command === 'm') this.#style = ENDS.has(Number(amount)) ? undefined : STYLES[amount];
      else if (command !== undefined) throw new Error(`the picture's screen does not know ${JSON.stringify(token)}`);
      else if (token === '\r') this.#column = 0;
      else if (token === '\n') this.#feed();
      else this.#put(token);
    }
  }

  /** The rows in the window, each as a list of spans with a text and a style. */
  visible() {
    return this.#rows.slice(-this.#height).map(spansOf);
  }

  #feed() {
    this.#row++;
    this.#column = 0;
    this.#rows[this.#row] ??= [];
  }

  #put(character) {
    if (this.#column === this.#columns) this.#feed();
    this.#rows[this.#row][this.#column++] = { character, style: this.#style };
  }
}

/** Without the spaces at the end. */
function spansOf(cells) {
  const spans = [];
  for (const { character, style } of Array.from(cells, (cell) => cell ?? { character: ' ' })) {
    const last = spans.at(-1);
    if (last && last.style === style) last.text += character;
    else spans.push({ text: character, style });
  }
  while (spans.length > 0 && spans.at(-1).text.trimEnd() === '') spans.pop();
  if (spans.length > 0) spans.at(-1).text = spans.at(-1).text.trimEnd();
  return spans;
}
