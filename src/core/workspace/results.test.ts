import { expect, test } from 'vitest';
import { parseTemplate } from '../language/template.ts';
import type { DeliveryTemplate, WorkspaceTemplate } from './plan.ts';
import { resultsPlaceOf, resultsText } from './results.ts';

const SCOPE = { columns: new Set(['name']), env: new Set(['HOST']), file: 'manager.md' };
const template = (text: string) => parseTemplate(text, SCOPE, 1);

function textOf(
  workspace: Partial<WorkspaceTemplate>,
  delivery: Partial<DeliveryTemplate>,
  folder: string | undefined = '/srv/app',
): string {
  const place = resultsPlaceOf(
    { kind: 'worktree', include: [], ...workspace, delivery: { kind: 'none', when: 'done', ...delivery } },
    { shift: 'night', folder },
  );
  return resultsText(place, 'night').replace(/^results: /, '');
}

test('W8 a line says where results go: for each workspace and delivery', () => {
  const repo = template('https://{ENV:HOST}/acme/{name}.git');
  const clone = { kind: 'clone', repo } as const;
  const lines = [
    textOf({}, {}),
    textOf({}, { kind: 'branch' }),
    textOf({ branch: template('fix/{name}') }, { kind: 'branch' }),
    textOf({}, { kind: 'merge' }),
    textOf({}, { kind: 'merge', into: template('next') }),
    textOf({}, { kind: 'push' }),
    textOf({}, { kind: 'pr', into: template('main') }),
    textOf({ kind: 'copy' }, { kind: 'patch' }),
    textOf(clone, { kind: 'branch' }),
    textOf(clone, { kind: 'merge' }),
    textOf(clone, { kind: 'push' }),
    textOf(clone, { kind: 'pr' }),
  ];
  expect(lines).toEqual([
    'they stay in the worktree of each row (`deliver: none`)',
    'a branch nightshift/night/<row> for each row, in /srv/app',
    'a branch fix/{name} for each row, in /srv/app',
    'merged into nightshift/night/merged, in /srv/app',
    'merged into next, in /srv/app',
    'a branch nightshift/night/<row> for each row, pushed to the remote of /srv/app',
    'a pull request for each row, on the remote of /srv/app, into main',
    'a patch for each row, in .nightshift/night/patches',
    'a branch nightshift/night/<row> in the clone of each row',
    'merged into nightshift/night/merged, on https://{ENV:HOST}/acme/{name}.git',
    'a branch nightshift/night/<row> for each row, pushed to https://{ENV:HOST}/acme/{name}.git',
    'a pull request for each row, on https://{ENV:HOST}/acme/{name}.git',
  ]);
});

test('W8 the line says what waits for approval, and names no folder if each row has its own', () => {
  expect(textOf({}, { kind: 'pr', when: 'approved' })).toMatch(
    /app, once you approve them with `nightshift deliver night`$/,
  );
  expect(textOf({}, { kind: 'push', most: 5 })).toMatch(
    /; at most 5 in a run, `nightshift deliver night` sends the others$/,
  );
  const place = resultsPlaceOf(
    { kind: 'worktree', include: [], delivery: { kind: 'branch', when: 'done' } },
    { shift: 'night', folder: undefined },
  );
  expect(resultsText(place, 'night')).toBe(
    'results: a branch nightshift/night/<row> for each row, in the repository of each row',
  );
});
