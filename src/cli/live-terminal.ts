import { ViewState } from '../core/folds/view-state.ts';
import type { NightshiftEvent, TranscriptHappening } from '../core/model/events.ts';
import { escapeUnsafe } from '../core/text/printable.ts';
import { render } from '../views/live.ts';
import { pageLine, shortPageLine } from '../views/page-lines.ts';
import { scrollingLines } from '../views/plain.ts';
import { RepeatedReasons } from '../views/repeated-reasons.ts';
import { LiveBlock } from '../views/terminal.ts';
import { cutTo } from '../views/text-width.ts';
import type { EventView, ViewOptions } from './event-view.ts';
import type { Terminal } from './io.ts';

/** Redraws at most eight times a second, and at least once a second because the times change. */
const REDRAW_MS = 125;
const TICK_MS = 1000;
const TALLEST = 16;

/** The live view: finished items scroll away as plain lines, running items are redrawn below. */
export class LiveTerminal implements EventView {
  readonly state: ViewState;
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #ctrlC: string | undefined;
  readonly #block = new LiveBlock();
  readonly #repeated = new RepeatedReasons();
  readonly #ticks: NodeJS.Timeout;
  readonly #resizes: Disposable;
  #above: string[] = [];
  #drawnAt = 0;
  #planned: NodeJS.Timeout | undefined;
  #page: string | undefined;

  constructor(terminal: Terminal, now: () => number, { root, ctrlC }: ViewOptions = {}) {
    this.state = new ViewState(root);
    this.#terminal = terminal;
    this.#now = now;
    this.#ctrlC = ctrlC;
    this.#ticks = setInterval(() => this.#plan(), TICK_MS).unref();
    this.#resizes = terminal.onResize(() => this.#plan());
  }

  event(event: NightshiftEvent): void {
    const { columns } = this.#terminal;
    for (const line of scrollingLines(this.#repeated.shorten(event), this.#ctrlC)) {
      const lines = escapeUnsafe(line).split('\n');
      // The summary has a reason in full; one line for each item is easier to follow.
      this.#above.push(...(event.item === undefined ? lines : lines.map((each) => cutTo(each, columns - 1))));
    }
    this.past(event);
  }

  /** An event from before the view was opened: it counts but is not printed. */
  past(event: NightshiftEvent): void {
    this.state.add(event);
    this.#plan();
  }

  heard({ task = '', item = '', entry }: Pick<TranscriptHappening, 'task' | 'item' | 'entry'>): void {
    this.state.heard(task, item, this.#now(), entry);
    this.#plan();
  }

  page(url: string): void {
    this.#page = url;
    this.note(pageLine(url));
  }

  note(line: string): void {
    this.#above.push(...escapeUnsafe(line).split('\n'));
    this.#plan();
  }

  #plan(): void {
    const wait = Math.max(0, REDRAW_MS - (this.#now() - this.#drawnAt));
    this.#planned ??= setTimeout(() => this.#draw(), wait).unref();
  }

  #draw(): void {
    clearTimeout(this.#planned);
    this.#planned = undefined;
    this.#drawnAt = this.#now();
    const { columns, rows, colour } = this.#terminal;
    const page = this.#page === undefined ? [] : [cutTo(shortPageLine(this.#page, columns - 1), columns - 1)];
    const viewport = { width: columns - 1, height: Math.min(TALLEST, rows - 2) - page.length, colour };
    const isShown = this.state.startedAt > 0 && !this.state.ended;
    const lines = isShown ? ['', ...render(this.state, viewport, this.#drawnAt), ...page] : [];
    const bytes = this.#block.draw(this.#above.splice(0), lines, columns);
    if (bytes !== '') this.#terminal.write(bytes);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticks);
    this.#resizes[Symbol.dispose]();
    this.#draw();
    this.#terminal.write(this.#block.clear(this.#terminal.columns));
  }
}
