import { existsSync, lstatSync } from 'node:fs';
import { endMarked } from '../../agents/process/leftovers.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { compileShift, type ShiftDocuments } from '../../formats/compile.ts';
import { readBatch, refuseOpenBatch } from '../../store/folder/batch-file.ts';
import { InForce } from '../../store/folder/documents/in-force.ts';
import { InForceRecord, readRecord } from '../../store/folder/documents/in-force-record.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { type Holder, takeRunLock } from '../../store/folder/run-lock.ts';
import { readTable } from '../../store/folder/table/table-change.ts';
import type { World } from '../world.ts';
import { EventStream, newRun } from './event-stream.ts';

/**
 * A run gives a sign of life twice a second, and the agents of a killed run end within a second or two. An edit up to
 * then was made while items were running.
 */
const LAST_BREATH_MS = 2000;

/**
 * After a killed run: puts back and reports edits that were made while its items were running. Later edits are a
 * person's, unless processes of that run `lived` until now. The caller holds the run lock.
 */
export async function settleKilledRun(
  paths: ShiftPaths,
  world: World,
  onEvent: (event: NightshiftEvent) => void,
  lived = false,
): Promise<void> {
  if (!existsSync(paths.inForce)) return;
  const found = readRecord(paths);
  if (found) {
    const signs = [found.lastSign, readBatch(paths)?.lastSign ?? 0, lived ? world.now() : 0];
    const lastSign = Math.max(...signs) + LAST_BREATH_MS;
    if (found.isEnvLost && !isLater(paths.env, lastSign)) {
      throw lostEnv(paths, 'look through .env and save it again (`touch` is enough): then it counts as yours');
    }
    const files = new ShiftFiles(paths);
    const texts = [...found.texts].map(([file, text]) => {
      const now = files.see(file).text;
      const isOurs = file === found.next?.file && now === found.next.text;
      return [file, isOurs || isLater(file, lastSign) ? now : text] as const;
    });
    await using stream = await new EventStream(newRun(new Date(world.now()).toISOString()), paths, world, {
      onEvent,
    }).open();
    const inForce = await InForce.open(
      files,
      { emit: stream.emit, now: world.now, check: checkWith(paths), isByHand: true },
      new Map(texts),
    );
    await using _protected = inForce.protect();
    await inForce.putBack();
  }
  await new InForceRecord(paths).remove();
}

/** Called before anything is read. Returns how many processes of a killed run were still there; they are ended. */
export async function settleBeforeStart(
  paths: ShiftPaths,
  holder: Holder,
  world: World,
  onEvent: (event: NightshiftEvent) => void,
): Promise<number> {
  if (!existsSync(paths.inForce)) return 0;
  refuseOpenBatch(paths, world.now());
  using _running = await takeRunLock(paths, holder);
  const leftovers = await endMarked({ shiftFolder: paths.folder });
  await settleKilledRun(paths, world, onEvent, leftovers > 0);
  return leftovers;
}

export function lostEnv({ env: file }: ShiftPaths, hint: string): NightshiftError {
  const message = '.env was changed while items were running, and so was its copy';
  return new NightshiftError('bad-env', message, hint, { file });
}

/** A program can set a file's mtime to anything, but not its ctime. */
function isLater(file: string, time: number): boolean {
  try {
    const { mtimeMs, ctimeMs } = lstatSync(file);
    return Math.min(mtimeMs, ctimeMs) > time;
  } catch {
    return false;
  }
}

/** Throws if the shift can't be run with these documents. */
export function checkWith(paths: ShiftPaths): (documents: ShiftDocuments) => Promise<void> {
  return async (documents) => {
    compileShift(documents, (await readTable(paths)).header);
  };
}
