import type { WorkspaceRecord, WorkspaceRecords } from './records.ts';

/** Records that end with the process, as the workspaces do that they are about. */
export class MemoryRecords implements WorkspaceRecords {
  readonly #records = new Map<string, WorkspaceRecord>();

  async all(): Promise<WorkspaceRecord[]> {
    return [...this.#records.values()];
  }

  async read(id: string): Promise<WorkspaceRecord | undefined> {
    return this.#records.get(id);
  }

  async write(record: WorkspaceRecord): Promise<void> {
    this.#records.set(record.id, record);
  }

  async remove(id: string): Promise<void> {
    this.#records.delete(id);
  }
}
