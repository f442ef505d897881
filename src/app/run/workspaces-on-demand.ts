import { existsSync } from 'node:fs';
import type { Deliveries, Workspaces } from '../../core/workspace/workspaces.ts';
import type { Store } from '../../store/store.ts';
import type { AwayRows } from '../../workspace/away-rows.ts';
import type { RunWorkspaces, WorkspaceMeans } from './run-workspaces.ts';

/** The workspaces of a run. Their code is loaded when a row needs one: most shifts work in a shared folder. */
export class WorkspacesOnDemand implements Workspaces, Deliveries {
  readonly #means: WorkspaceMeans;
  #loaded: Promise<RunWorkspaces> | undefined;

  constructor(means: WorkspaceMeans) {
    this.#means = means;
  }

  /** Before any agent starts: finishes what a killed run left. */
  async recover(store: Pick<Store, 'snapshot'>): Promise<void> {
    if (existsSync(this.#means.paths.workspaces)) await (await this.#load()).recover(store);
  }

  readonly open: Workspaces['open'] = async (request) => (await this.#load()).open(request);

  readonly deliver: Deliveries['deliver'] = async (request) => (await this.#load()).deliver(request);

  /** In a fleet: rows that workers work on. */
  async away(): Promise<AwayRows> {
    return (await this.#load()).away;
  }

  /** At the end of a run: tells what else agents have changed outside of their workspaces. */
  async lookOutside(): Promise<void> {
    await (await this.#loaded)?.lookOutside();
  }

  /** The run has ended by itself. */
  async end(kind: { readonly isRun: boolean }): Promise<void> {
    await (await this.#loaded)?.end(kind);
  }

  #load(): Promise<RunWorkspaces> {
    this.#loaded ??= import('./run-workspaces.ts').then(({ RunWorkspaces }) => new RunWorkspaces(this.#means));
    return this.#loaded;
  }
}
