import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ShiftDocuments } from '../formats/compile.ts';
import { termsOf } from './accepted.ts';
import { diskError } from './atomic-write.ts';
import { replaceInside } from './inside.ts';
import type { ShiftPaths } from './layout.ts';
import { initRoot } from './new-shift.ts';

/** The texts in force, by file; undefined: there is no such file. */
export type Texts = ReadonlyMap<string, string | undefined>;

export function textsOf(paths: ShiftPaths, { manager, tasks, env }: ShiftDocuments): Texts {
  return new Map<string, string | undefined>([
    [paths.manager, manager.text],
    [paths.env, env],
    ...tasks.map(({ file, document }) => [file, document.text] as const),
  ]);
}

/**
 * What is in force, on the disk, from before the first claim until the run has ended properly: what is found at a start
 * was left by a run that was killed, or by an open batch. Its time of change is the last sign of life. Secrets do not
 * rest in `.engine`: the text of `.env` is beside `.env`, and ignored by git as it is.
 */
export class InForceRecord {
  readonly #paths: ShiftPaths;
  #written: string | undefined;

  constructor(paths: ShiftPaths) {
    this.#paths = paths;
  }

  /** Written when it changed, or when somebody removed it. `next`: what is about to be written to a file. */
  async write(texts: Texts, next?: { readonly file: string; readonly text: string }): Promise<void> {
    const { inForce, envInForce, env } = this.#paths;
    const counted = [...texts].map(([file, text]) => [file, text && termsOf(this.#paths, file, text)]);
    const terms = JSON.stringify([counted, next]);
    const secrets = texts.get(env);
    if (terms === this.#written && existsSync(inForce) && (secrets === undefined || existsSync(envInForce))) return;
    try {
      const hasCopy = secrets !== undefined && (await this.#keepSecrets(secrets));
      if (secrets === undefined) await rm(envInForce, { force: true });
      const files = Object.fromEntries(
        [...texts].filter(([file]) => file !== env).map(([file, text]) => [basename(file), text ?? null]),
      );
      const record = {
        files,
        env: secrets === undefined ? 'absent' : hasCopy ? 'copied' : 'unknown',
        ...(next === undefined ? {} : { next: { file: basename(next.file), text: next.text } }),
      };
      await replaceInside({ base: this.#paths.folder }, inForce, Buffer.from(JSON.stringify(record)));
      this.#written = terms;
    } catch (cause) {
      throw diskError(cause, inForce);
    }
  }

  /** Not before git ignores it. */
  async #keepSecrets(text: string): Promise<boolean> {
    try {
      await initRoot(this.#paths.root);
    } catch {
      return false;
    }
    const { folder, envInForce } = this.#paths;
    await replaceInside({ base: folder }, envInForce, Buffer.from(text));
    return true;
  }

  /** Somebody is at work: a sign of life. */
  touch(now: number): void {
    try {
      utimesSync(this.#paths.inForce, now / 1000, now / 1000);
    } catch {
      // Removed, and written again before the next claim.
      this.#written = undefined;
    }
  }

  async remove(): Promise<void> {
    const { inForce, envInForce, accepted } = this.#paths;
    // The record last: without it the copy of the secrets would be nobody's.
    for (const file of [accepted, envInForce, inForce]) await rm(file, { force: true });
    this.#written = undefined;
  }
}

export interface FoundRecord {
  readonly texts: Texts;
  /** What the run was about to write: where it stands already, it is in force. */
  readonly next?: { readonly file: string; readonly text: string };
  /** Milliseconds since 1970. */
  readonly lastSign: number;
}

/** Undefined: none is there, or none that can be read. */
export function readRecord(paths: ShiftPaths): FoundRecord | undefined {
  try {
    const lastSign = statSync(paths.inForce).mtimeMs;
    const { files, env, next } = JSON.parse(readFileSync(paths.inForce, 'utf8'));
    const texts = new Map<string, string | undefined>();
    for (const [name, text] of Object.entries(files)) {
      texts.set(join(paths.folder, basename(name)), typeof text === 'string' ? text : undefined);
    }
    if (typeof texts.get(paths.manager) !== 'string') return undefined;
    if (env === 'absent') texts.set(paths.env, undefined);
    else if (env === 'copied' && existsSync(paths.envInForce)) {
      texts.set(paths.env, readFileSync(paths.envInForce, 'utf8'));
    }
    if (typeof next?.file !== 'string' || typeof next.text !== 'string') return { texts, lastSign };
    return { texts, lastSign, next: { file: join(paths.folder, basename(next.file)), text: next.text } };
  } catch {
    return undefined;
  }
}
