import { NightshiftError } from '../core/model/errors.ts';
import type { Documents } from '../store/documents.ts';
import type { Store, WriteResult } from '../store/store.ts';
import { type FilePatience, isCurable } from './file-patience.ts';

/** The store for a run: waits for unreadable files (rule F6), and records results once it can. */
export function patientStore(store: Store, patience: FilePatience): Store {
  const result = { isResult: true, restore: () => store.restore() };
  /** Statuses that could not be written yet, by token. The verdict on an item waits for that of its dev. */
  const waiting = new Map<string, Promise<WriteResult>>();
  const record: Store['record'] = async (token, ...write) => {
    await waiting.get(token)?.catch(() => {});
    const recording: Promise<WriteResult> = patience.until(
      () =>
        store.record(token, ...write).catch((error) => {
          waiting.set(token, recording);
          throw error;
        }),
      result,
    );
    try {
      return await recording;
    } finally {
      if (waiting.get(token) === recording) waiting.delete(token);
    }
  };
  return {
    prepare: (tasks, outputs) => patience.until(() => store.prepare(tasks, outputs)),
    snapshot: () => patience.until(() => store.snapshot()),
    // A task that was removed from the Task Order has nothing to claim.
    claim: (task, ids, terms) => patience.until(() => store.claim(task, ids, terms).catch(noneIfUnknown)),
    adopt: (cell, terms) => patience.until(() => store.adopt(cell, terms)),
    renew: (tokens, expiresAt) => store.renew(tokens, expiresAt),
    leases: () => store.leases(),
    giveBackStale: (now) => patience.until(() => store.giveBackStale(now)),
    record,
    release: (token, reason) => patience.until(() => store.release(token, reason), result),
    reset: (cells) => patience.until(() => store.reset(cells)),
    // The watch must not wait: what it can't see now, it sees the next time.
    changes: () => patience.inPassing(() => store.changes(), []),
    restore: () => store.restore(),
  };
}

export function patientDocuments(documents: Documents, patience: FilePatience): Documents {
  return {
    folderId: () => documents.folderId(),
    isThere: () => documents.isThere(),
    finishBatch: (counts, size) => patience.until(() => documents.finishBatch(counts, size)),
    writeSteps: (task, from, steps) => patience.until(() => documents.writeSteps(task, from, steps)),
    writeLessons: (from, book) => patience.until(() => documents.writeLessons(from, book)),
    keepVersion: (task, text) => patience.until(() => documents.keepVersion(task, text)),
    protect: (item) => documents.protect(item),
    get revision() {
      return documents.revision;
    },
    putBack: () => orNothing(documents.putBack(), []),
  };
}

function noneIfUnknown(error: unknown): [] {
  if (error instanceof NightshiftError && error.code === 'not-found' && error.file === undefined) return [];
  throw error;
}

async function orNothing<T>(reading: Promise<T>, nothing: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isCurable(error)) return nothing;
    throw error;
  }
}
