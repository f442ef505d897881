import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NightshiftError } from '../core/model/errors.ts';

/** Where the build puts the page. */
export const WEB_FOLDER = fileURLToPath(new URL('../web', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
const INDEX = '/index.html';

export interface WebFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** Changes with the content. */
  readonly etag: string;
}

/**
 * The files of the page, read once. A request finds one by its whole path or not at all, so that no path leads
 * anywhere else, and an update of the package does not mix two versions.
 */
export class WebFiles {
  readonly #files: ReadonlyMap<string, WebFile>;

  private constructor(files: ReadonlyMap<string, WebFile>) {
    this.#files = files;
  }

  static async read(folder: string): Promise<WebFiles> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = new Map<string, WebFile>();
    for (const entry of entries) {
      const file = join(entry.parentPath, entry.name);
      const type = TYPES[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const bytes = await readFile(file);
      const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
      files.set(`/${relative(folder, file).split(sep).join('/')}`, { bytes, type, etag });
    }
    if (files.has(INDEX)) return new WebFiles(files);
    throw new NightshiftError('not-found', `the page is missing: ${folder}${INDEX}`, 'install Nightshift again');
  }

  find(path: string): WebFile | undefined {
    return this.#files.get(path === '/' ? INDEX : path);
  }

  /** What the page may load: its own files by name, and answers of this server. */
  policy(origin: string): string {
    const named = (end: string) => {
      const paths = [...this.#files.keys()].filter((path) => path.endsWith(end));
      return paths.length === 0 ? "'none'" : paths.map((path) => origin + path).join(' ');
    };
    const scripts = named('.js');
    return [
      `script-src ${scripts}`,
      `worker-src ${scripts}`,
      `style-src ${named('.css')}`,
      // Icons; what is in them is in the files of the page.
      'img-src data:',
      "connect-src 'self'",
      // No text becomes HTML or a script; `web/own-scripts.ts` has the one exception.
      "require-trusted-types-for 'script'",
      'trusted-types default',
    ].join('; ');
  }
}
