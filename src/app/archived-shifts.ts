import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseManager } from '../formats/manager.ts';
import { readDocument } from '../store/folder/documents/document-text.ts';
import { archiveFolder } from '../store/folder/layout.ts';

export interface ArchivedShift {
  readonly name: string;
  /** Its folder in the archive: `2026-11-17-site`. */
  readonly folder: string;
}

/** In the order in which they were archived: by date, then by number. */
export function listArchived(root: string): ArchivedShift[] {
  const archive = archiveFolder(root);
  if (!existsSync(archive)) return [];
  return readdirSync(archive, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: folder }) => archivedAs(root, folder) ?? [])
    .sort((a, b) => a.folder.localeCompare(b.folder, 'en', { numeric: true }));
}

/** Undefined if its name is not that of an archived shift. */
export function archivedAs(root: string, folder: string): ArchivedShift | undefined {
  const named = ARCHIVED.exec(folder)?.[1];
  if (named === undefined) return undefined;
  return { folder, name: nameIn(join(archiveFolder(root), folder, 'manager.md')) ?? named };
}

const ARCHIVED = /^\d{4}-\d\d-\d\d-([a-z0-9-]+)$/;

/** Only the manifest knows whether `2026-11-17-site-2` is `site-2`, or `site` for the second time on that day. */
function nameIn(manager: string): string | undefined {
  try {
    return parseManager(readDocument(manager), manager).settings.find(({ key }) => key === 'name')?.value;
  } catch {
    return undefined;
  }
}
