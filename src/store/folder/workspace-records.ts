import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import type { DeliveryRecord, WorkspaceRecord, WorkspaceRecords } from '../../workspace/records.ts';
import { syncFolder, TEMPORARY } from './files/atomic-write.ts';
import { folderOf, type OnSetAside, replaceInside, setAsideText } from './files/inside.ts';
import { readHere } from './files/read-here.ts';
import type { ShiftPaths } from './layout.ts';

/** The records of a shift's workspaces: one JSON file for each row, replaced as a whole. Reading changes nothing. */
export class FolderWorkspaceRecords implements WorkspaceRecords {
  readonly #paths: ShiftPaths;
  readonly #warn: (message: string) => void;

  /** `warn`: gets a sentence about everything that is not a record, or not in its place. */
  constructor(paths: ShiftPaths, warn: (message: string) => void = () => {}) {
    this.#paths = paths;
    this.#warn = warn;
  }

  async all(): Promise<WorkspaceRecord[]> {
    const { workspaces } = this.#paths;
    if (!this.#isReadable()) return [];
    const names = readdirSync(workspaces).filter((name) => !TEMPORARY.test(name) && !name.includes('.put-back-'));
    const records = names.flatMap((name) => this.#readFile(join(workspaces, name)) ?? []);
    return records.sort((a, b) => a.row - b.row || (a.id < b.id ? -1 : 1));
  }

  async read(id: string): Promise<WorkspaceRecord | undefined> {
    const file = this.#paths.workspaceRecord(id);
    return this.#isReadable() && existsSync(file) ? this.#readFile(file) : undefined;
  }

  async write(record: WorkspaceRecord): Promise<void> {
    const text = `${JSON.stringify(record, undefined, 2)}\n`;
    const place = { base: this.#paths.folder, onSetAside: this.#onSetAside };
    await replaceInside(place, this.#paths.workspaceRecord(record.id), Buffer.from(text));
  }

  async remove(id: string): Promise<void> {
    if (!existsSync(this.#paths.workspaces)) return;
    const file = this.#paths.workspaceRecord(id);
    using folder = folderOf(this.#paths.folder, file, this.#onSetAside);
    rmSync(folder.at(basename(file)), { force: true });
    // A record that comes back after a power cut would name a folder that is gone.
    await syncFolder(folder.at('.'));
  }

  readonly #onSetAside: OnSetAside = (file, kept) => this.#warn(setAsideText(file, kept));

  /** A link could lead to records that an agent wrote. */
  #isReadable(): boolean {
    const { workspaces } = this.#paths;
    const found = lstatSync(workspaces, { throwIfNoEntry: false });
    if (found && !found.isDirectory()) this.#warn(`${workspaces} is a link, or not a folder; its records are ignored`);
    return found?.isDirectory() === true;
  }

  #readFile(file: string): WorkspaceRecord | undefined {
    const record = parseRecord(readIfFile(file));
    if (record && this.#paths.workspaceRecord(record.id) === file) return record;
    this.#warn(`${file} is not the record of a workspace, or damaged; it is ignored`);
    return undefined;
  }
}

/** Undefined if the text is torn or something else. Keeps fields that this version does not know. */
function parseRecord(text: string): WorkspaceRecord | undefined {
  let value: Partial<Record<keyof WorkspaceRecord, unknown>> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, slug, folder, from, branch, madeAt, row, kind, state, base, delivery } = value;
  const isWhole =
    [id, slug, folder, from, branch, madeAt].every((each) => typeof each === 'string') &&
    isAbsolute(folder as string) &&
    Number.isSafeInteger(row) &&
    ['worktree', 'clone', 'copy'].includes(kind as string) &&
    ['preparing', 'ready', 'removing', 'removed', 'away'].includes(state as string) &&
    ['string', 'undefined'].includes(typeof base) &&
    (delivery === undefined || isDelivery(delivery));
  return isWhole ? (value as WorkspaceRecord) : undefined;
}

function isDelivery(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, commit, state, at, text } = value as Partial<Record<keyof DeliveryRecord, unknown>>;
  const isText = [kind, commit, state, at].every((each) => typeof each === 'string');
  return isText && typeof text === 'object' && text !== null;
}

/** A link, a pipe or a folder in its place reads as nothing. */
function readIfFile(file: string): string {
  try {
    return readHere(file);
  } catch {
    return '';
  }
}
