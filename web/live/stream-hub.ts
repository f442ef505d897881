import type { ShiftId } from '../../src/core/page/answers.ts';
import type { StreamMessage } from '../../src/core/page/history-answers.ts';

/** `lost`: it tries again. */
export type Connection = 'idle' | 'connecting' | 'open' | 'lost';

/** What a window wants to hear of. */
export interface Wish {
  readonly shifts: readonly ShiftId[];
  readonly isVisible: boolean;
}

export type HubMessage =
  | { readonly kind: 'message'; readonly message: StreamMessage }
  | { readonly kind: 'connection'; readonly connection: Connection };

/** A window. */
export type Viewer = (message: HubMessage) => void;

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 5000;

/**
 * The one stream of a browser, for all shifts that its visible windows look at. It is closed while no window is visible
 * and resumes after the last event that it got, also at a server that was restarted.
 */
export class StreamHub {
  readonly #open: (address: string) => EventSource;
  readonly #viewers = new Map<Viewer, Wish>();
  #source: EventSource | undefined;
  #followed = '';
  #lastId = '';
  #retryMs = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #connection: Connection = 'idle';

  constructor(open: (address: string) => EventSource) {
    this.#open = open;
  }

  /** Without a wish, the window is gone. */
  update(viewer: Viewer, wish: Wish | undefined): void {
    if (wish) this.#viewers.set(viewer, wish);
    else this.#viewers.delete(viewer);
    const followed = this.#wanted();
    if (followed !== this.#followed) this.#follow(followed);
    else if (wish?.isVisible) viewer({ kind: 'connection', connection: this.#connection });
  }

  #wanted(): string {
    const visible = [...this.#viewers.values()].filter(({ isVisible }) => isVisible);
    const shifts = [...new Set(visible.flatMap((wish) => wish.shifts))].sort();
    return new URLSearchParams(shifts.map((shift) => ['shift', shift])).toString();
  }

  #follow(followed: string): void {
    this.#followed = followed;
    this.#retryMs = FIRST_RETRY_MS;
    this.#close();
    if (followed === '') this.#say('idle');
    else this.#connect('connecting');
  }

  #connect(connection: Connection): void {
    const after = this.#lastId === '' ? '' : `&${new URLSearchParams({ after: this.#lastId })}`;
    const source = this.#open(`/api/stream?${this.#followed}${after}`);
    this.#source = source;
    this.#say(connection);
    source.onopen = () => {
      this.#retryMs = FIRST_RETRY_MS;
      this.#say('open');
    };
    source.onmessage = ({ data, lastEventId }: MessageEvent<string>) => {
      if (lastEventId !== '') this.#lastId = lastEventId;
      this.#tell({ kind: 'message', message: JSON.parse(data) as StreamMessage });
    };
    // Browsers differ in which errors they retry by themselves.
    source.onerror = () => this.#retry();
  }

  #retry(): void {
    this.#close();
    this.#say('lost');
    this.#timer = setTimeout(() => this.#connect('lost'), this.#retryMs);
    this.#retryMs = Math.min(LONGEST_RETRY_MS, this.#retryMs * 2);
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  #say(connection: Connection): void {
    this.#connection = connection;
    this.#tell({ kind: 'connection', connection });
  }

  #tell(message: HubMessage): void {
    for (const [viewer, { isVisible }] of this.#viewers) if (isVisible) viewer(message);
  }
}
