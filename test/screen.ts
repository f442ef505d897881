/** What a terminal makes of the bytes: printing, line feeds (with carriage return), cursor up and right, erasing lines. */
export class Screen {
  rows: string[] = [''];
  #row = 0;
  #column = 0;
  readonly #columns: number;

  constructor(columns: number) {
    this.#columns = columns;
  }

  write(text: string): this {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as a terminal reads
    for (const [token, amount, command] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[\s\S]/g)) {
      if (command === 'A') this.#row -= Number(amount);
      else if (command === 'C') this.#column += Number(amount);
      else if (command === 'K') this.#set(amount === '2' ? '' : this.#line.slice(0, this.#column));
      else if (command === 'm') continue;
      else if (command !== undefined) throw new Error(`not calm: ${JSON.stringify(token)}`);
      else if (token === '\r') this.#column = 0;
      else if (token === '\n') this.#feed();
      else this.#put(token);
    }
    if (this.#row < 0) throw new Error('above its own lines');
    return this;
  }

  get #line(): string {
    return this.rows[this.#row]!;
  }

  #set(line: string): void {
    this.rows[this.#row] = line;
  }

  #feed(): void {
    this.#row++;
    this.#column = 0;
    this.rows[this.#row] ??= '';
  }

  #put(character: string): void {
    if (this.#column === this.#columns) this.#feed();
    this.#set(
      `${this.#line.padEnd(this.#column).slice(0, this.#column)}${character}${this.#line.slice(this.#column + 1)}`,
    );
    this.#column++;
  }

  get text(): string {
    return this.rows.join('\n').trimEnd();
  }
}
