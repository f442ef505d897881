import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const SHIFT = 'night';
export const TASK = 'work';

export interface ShiftParts {
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  readonly table: string;
  readonly step: string;
}

/** A folder with one shift of one task, for the time of one measurement. */
export class Project implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'nightshift-bench-'));
  readonly folder = join(this.root, '.nightshift', SHIFT);

  constructor({ settings, table, step }: ShiftParts) {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(join(this.folder, 'manager.md'), managerText(settings));
    writeFileSync(join(this.folder, 'table.csv'), table);
    writeFileSync(join(this.folder, `${TASK}.md`), taskText(step, 'true'));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function managerText(settings: ShiftParts['settings']): string {
  const lines = Object.entries({ name: SHIFT, created: '2026-01-02', ...settings }).map(([k, v]) => `- ${k}: ${v}`);
  return `# ${SHIFT}\n\n## Shift Configuration\n\n${lines.join('\n')}\n\n## Task Order\n\n1. ${TASK}\n\n## Progress\n\n- Total items: 0\n- Completed: 0\n- Failed: 0\n- Remaining: 0\n`;
}

function taskText(step: string, check: string): string {
  const block = (code: string) => `\n\n   \`\`\`sh\n   ${code}\n   \`\`\``;
  return `## Configuration\n\n- agent: shell\n\n## Steps\n\n1. Do it${block(step)}\n\n## Validation\n\n- It is done${block(check)}\n`;
}

/** Rows of about 159 bytes: a name, a path, an address, some prose with a comma, a status. */
export function wideTable(rows: number): string {
  const lines = [`name,path,address,note,${TASK}`];
  for (let row = 1; row <= rows; row++) {
    const id = String(row).padStart(7, '0');
    lines.push(
      `item-${id},content/pages/item-${id}.html,https://example.org/catalogue/item-${id},"A note of some length, as people write them into tables (${id})",todo`,
    );
  }
  return `${lines.join('\n')}\n`;
}

export const EIGHT_AT_ONCE = { parallel: true, 'current-batch-size': 8, 'max-batch-size': 8 };
export const STREAM = { ...EIGHT_AT_ONCE, dispatch: 'stream' };
