import { statSync, utimesSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ShiftDocuments } from '../../../formats/compile.ts';
import { diskError } from '../files/atomic-write.ts';
import { replaceInside } from '../files/inside.ts';
import { readHere } from '../files/read-here.ts';
import { initRoot } from '../init-root.ts';
import type { ShiftPaths } from '../layout.ts';
import { hashSecrets, isHashOfSecrets, termsOf } from './acceptances.ts';
import { readDocument } from './document-text.ts';

/** The texts in force, by file; undefined: there is no such file. */
export type Texts = ReadonlyMap<string, string | undefined>;

export function textsOf(paths: ShiftPaths, { manager, tasks, env, lessons }: ShiftDocuments): Texts {
  return new Map<string, string | undefined>([
    [paths.manager, manager.text],
    [paths.env, env],
    [paths.lessons, lessons?.text],
    ...tasks.map(({ file, document }) => [file, document.text] as const),
  ]);
}

/**
 * Records what is in force, from before the first claim until the run ends properly. A record found at a start was
 * left by a killed run or an open batch; its time of change is the last sign of life. The text of `.env` is not in
 * `.engine` but beside `.env`, ignored by git; the record has only its hash, to notice another text.
 */
export class InForceRecord {
  readonly #paths: ShiftPaths;
  #terms: string | undefined;
  #written: string | undefined;
  #manager: { readonly text: string; readonly terms: string } | undefined;
  #secrets: { readonly text: string; readonly hash: string } | undefined;

  constructor(paths: ShiftPaths) {
    this.#paths = paths;
  }

  /**
   * Writes the record if it changed, or was changed or removed by others. `next`: what is about to be written to a
   * file.
   */
  async write(texts: Texts, next?: { readonly file: string; readonly text: string }): Promise<void> {
    const { inForce, env } = this.#paths;
    const counted = [...texts].map(([file, text]) => [file, text && this.#termsOf(file, text)]);
    const terms = JSON.stringify([counted, next]);
    const secrets = texts.get(env);
    if (terms === this.#terms && this.#isIntact(secrets)) return;
    try {
      await this.#keepSecrets(secrets);
      const files = Object.fromEntries(
        [...texts].filter(([file]) => file !== env).map(([file, text]) => [basename(file), text ?? null]),
      );
      const record = {
        files,
        env: secrets === undefined ? null : this.#hash(secrets),
        ...(next === undefined ? {} : { next: { file: basename(next.file), text: next.text } }),
      };
      const written = JSON.stringify(record);
      await replaceInside({ base: this.#paths.folder }, inForce, Buffer.from(written));
      this.#terms = terms;
      this.#written = written;
    } catch (cause) {
      throw diskError(cause, inForce);
    }
  }

  /** Before every claim and at every look, mostly for the same text. */
  #termsOf(file: string, text: string): string {
    if (file !== this.#paths.manager) return text;
    if (this.#manager?.text !== text) this.#manager = { text, terms: termsOf(this.#paths, file, text) };
    return this.#manager.terms;
  }

  #isIntact(secrets: string | undefined): boolean {
    const { inForce, envInForce } = this.#paths;
    return textOf(inForce) === this.#written && (secrets === undefined || textOf(envInForce) === secrets);
  }

  #hash(text: string): string {
    if (this.#secrets?.text !== text) this.#secrets = { text, hash: hashSecrets(text) };
    return this.#secrets.hash;
  }

  /** Only once git ignores the file. */
  async #keepSecrets(text: string | undefined): Promise<void> {
    const { root, folder, envInForce } = this.#paths;
    try {
      await initRoot(root);
    } catch {
      return;
    }
    if (text === undefined) await rm(envInForce, { force: true });
    else await replaceInside({ base: folder }, envInForce, Buffer.from(text));
  }

  /** A sign of life, while agents work. */
  touch(now: number): void {
    try {
      utimesSync(this.#paths.inForce, now / 1000, now / 1000);
    } catch {
      // If it was removed, it is written again before the next claim.
    }
  }

  async remove(): Promise<void> {
    const { inForce, envInForce, accepted } = this.#paths;
    // The record goes last: without it, nothing would refer to the copy of the secrets.
    for (const file of [accepted, envInForce, inForce]) await rm(file, { force: true });
    this.#terms = undefined;
  }
}

export interface FoundRecord {
  /** Without `.env` if its text is lost. */
  readonly texts: Texts;
  /** `.env` was changed, and so was the copy of what was in force. */
  readonly isEnvLost: boolean;
  /** What the run was about to write. If it is in the file, it is in force. */
  readonly next?: { readonly file: string; readonly text: string };
  /** Milliseconds since 1970. */
  readonly lastSign: number;
}

/** Undefined if there is none, or none that can be read. */
export function readRecord(paths: ShiftPaths): FoundRecord | undefined {
  try {
    // That of the inode: an agent could set the other one to any time.
    const lastSign = statSync(paths.inForce).ctimeMs;
    const { files, env, next } = JSON.parse(readHere(paths.inForce));
    const texts = new Map<string, string | undefined>();
    for (const [name, text] of Object.entries(files)) {
      texts.set(join(paths.folder, basename(name)), typeof text === 'string' ? text : undefined);
    }
    if (typeof texts.get(paths.manager) !== 'string') return undefined;
    const secrets = [paths.envInForce, paths.env]
      .map(textOf)
      .find((text) => text !== undefined && env !== null && isHashOfSecrets(env, text));
    const isEnvLost = env !== null && secrets === undefined;
    if (!isEnvLost) texts.set(paths.env, secrets);
    const found = { texts, isEnvLost, lastSign };
    if (typeof next?.file !== 'string' || typeof next.text !== 'string') return found;
    return { ...found, next: { file: join(paths.folder, basename(next.file)), text: next.text } };
  } catch {
    return undefined;
  }
}

/** Undefined if there is no file that can be read. */
function textOf(file: string): string | undefined {
  try {
    return readDocument(file);
  } catch {
    return undefined;
  }
}
