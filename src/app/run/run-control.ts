import type { ControlRequests, FleetKind } from '../../core/model/control.ts';
import { fleetIn } from '../../core/schedule/run-request.ts';
import { RunControl } from '../../engine/control.ts';
import type { Stop } from '../../engine/ports.ts';
import { ControlFile } from '../../store/folder/control-file.ts';
import type { NewRun } from './run-shift.ts';
import { StopRequest } from './stop-request.ts';

/**
 * Steers a run by what its caller asks (`stop`) and by what other processes ask in the control file, and answers there.
 * Until it is disposed.
 */
export class FolderControl extends RunControl implements Disposable {
  readonly #run: NewRun;
  readonly #file: ControlFile;
  readonly #fleet: FleetKind | undefined;
  readonly #over = new AbortController();
  readonly #watch: Disposable;
  #answered: Promise<void> = Promise.resolve();

  constructor(run: NewRun, stop: Stop | undefined) {
    super();
    this.#run = run;
    this.#file = new ControlFile(run.paths);
    this.#fleet = run.options.fleet && fleetIn(run.options.request?.flags);
    if (stop) this.#obey(stop);
    // A run that can't record what it spends must not spend more.
    run.stream.failed.addEventListener('abort', () => this.stopNow({ signal: 'journal' }), {
      signal: this.#over.signal,
    });
    this.#watch = this.#file.watch((requests) => this.#follow(requests));
    this.follow(() => this.#answer());
    this.#answer();
  }

  /** All is done: there is nothing left that a pause could hold back. */
  async forgetPause(): Promise<void> {
    if (this.pause) await this.#file.resume();
  }

  #obey({ drain, now }: Stop): void {
    const on = (signal: AbortSignal, act: () => void) => {
      if (signal.aborted) act();
      else signal.addEventListener('abort', act, { once: true, signal: this.#over.signal });
    };
    on(drain, () => this.startDraining(originOf(drain)));
    on(now, () => this.stopNow(originOf(now)));
  }

  #follow({ stop, pause }: ControlRequests): void {
    if (stop && stop.run === this.#run.holder.run) {
      const by = { signal: 'control', request: stop.id };
      if (stop.now) this.stopNow(by);
      else if (stop.leave && this.#fleet) this.leave(by);
      else this.startDraining(by);
    }
    if (pause) this.startPause({ since: pause.at, now: pause.now }, { signal: 'control', request: pause.id });
    else this.resume({ signal: 'control' });
  }

  /** One after the other; the last one holds. A disk that is full must not end a run here. */
  #answer(): void {
    const { holder, running } = this.#run;
    // A change is reported before it takes effect: the state is read afterwards.
    const state = () => ({ run: holder.run, ...this.state, fleet: this.#fleet, running: running.size });
    this.#answered = this.#answered.then(() => this.#file.answer(state())).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#watch[Symbol.dispose]();
  }
}

function originOf({ reason }: AbortSignal): { signal: string } {
  return { signal: reason instanceof StopRequest ? reason.by : 'abort' };
}
