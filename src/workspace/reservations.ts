import type { WorkspaceRequest } from '../core/workspace/workspaces.ts';
import type { Git } from './git.ts';
import { KnownNames, type Names, nameWorkspace } from './naming.ts';
import type { Origin } from './origin.ts';
import type { WorkspaceRecord, WorkspaceRecords } from './records.ts';

export interface ReservationOptions {
  readonly git: Git;
  readonly shift: string;
  readonly records: WorkspaceRecords;
  /** The project, and the default of `workspaces-dir`. */
  readonly folders: { readonly root: string; readonly workspaces: string };
  failpoint(name: 'workspace:recorded'): void;
}

/** A record that may have no names yet. */
export type Unnamed = Omit<WorkspaceRecord, keyof Names> & Partial<Names>;

/** Reserves the names of workspaces with their records, one after the other. */
export class Reservations {
  readonly #options: ReservationOptions;
  readonly #names: KnownNames;
  #naming: Promise<unknown> = Promise.resolve();

  constructor(options: ReservationOptions) {
    this.#options = options;
    this.#names = new KnownNames(options.records);
  }

  /** Writes the record. Names that it has stay. */
  reserve(request: WorkspaceRequest, origin: Origin, known: Unnamed): Promise<WorkspaceRecord> {
    const { git, shift, folders, records, failpoint } = this.#options;
    const reserve = async () => {
      const { slug, folder, branch } = known;
      const names =
        slug !== undefined && folder !== undefined && branch !== undefined
          ? { slug, folder, branch }
          : await nameWorkspace({ git, shift, ...folders }, request, { origin, known: this.#names });
      const record = { ...known, ...names };
      await records.write(record);
      await this.#names.add(record);
      failpoint('workspace:recorded');
      return record;
    };
    const reserved = this.#naming.then(reserve);
    this.#naming = reserved.catch(() => {});
    return reserved;
  }
}
