import { expect, test } from 'vitest';
import {
  type Evidence,
  isShownBy,
  namesByPlace,
  namesWorkspace,
  type OutsidePlace,
  outsideChanges,
  showsChange,
} from './outside.ts';

const APP: OutsidePlace = { kind: 'repository', folder: '/app', label: '/app' };
const REMOTE: OutsidePlace = { kind: 'remote', folder: '/r.git', label: '/r.git' };
const OTHER: OutsidePlace = { kind: 'workspace', folder: '/w/1-a', label: 'the workspace of row 1' };

test('W11 what changed outside of workspaces is named; new branches harm nothing, except in a remote', () => {
  const before = new Map(Object.entries({ 'refs/heads/main': '1', HEAD: 'a', 'a.txt': 'x', 'gone.txt': 'y' }));
  const after = new Map(
    Object.entries({ 'refs/heads/main': '2', 'refs/heads/new': '3', HEAD: 'a', 'b.txt': 'x', 'a.txt': 'x' }),
  );
  const namesOf = (place: OutsidePlace) => outsideChanges(place, before, after).map(({ name }) => name);
  expect(namesOf(APP)).toEqual(['b.txt', 'gone.txt', 'refs/heads/main']);
  expect(namesOf(REMOTE)).toEqual(['b.txt', 'gone.txt', 'refs/heads/main', 'refs/heads/new']);
  const many = Array.from({ length: 7 }, (_, i) => ({ place: APP, name: `${i}`, now: '' }));
  expect(namesByPlace([...many, { place: OTHER, name: 'x', now: '' }])).toEqual([
    { label: '/app', names: '0, 1, 2, 3, 4 and 2 more' },
    { label: 'the workspace of row 1', names: 'x' },
  ]);
});

test.each([
  ['a path', APP, 'src/a.txt', 'echo x > /app/src/a.txt', true],
  ['a path of its own', APP, 'src/a.txt', 'echo x > src/a.txt', false],
  ['its folder and name', APP, 'src/a.txt', 'cd /app/src && echo x > a.txt', true],
  ['another file there', APP, 'src/a.txt', 'cat /app/README.md', false],
  ['git there', APP, 'HEAD', 'git -C /app checkout other', true],
  ['a setting', APP, '.git/config core.hooksPath', 'git config core.hooksPath /x', true],
  ['a branch that is moved', APP, 'refs/heads/main', 'git branch -f main HEAD', true],
  ['a branch by its whole name', APP, 'refs/heads/a/b', 'git update-ref refs/heads/a/b HEAD', true],
  ['a commit in the main checkout', APP, 'refs/heads/main', 'cd /app && git commit -m x', true],
  ['a branch that is read', APP, 'refs/heads/main', 'git diff main', false],
  ['a commit of its own', APP, 'refs/heads/main', 'git commit -m "Update main"', false],
  ['another branch', APP, 'refs/heads/main', 'git branch -f main-2 HEAD', false],
  ['a push', APP, 'origin/main (by a push)', 'git push', true],
  ['a push to a remote', REMOTE, 'refs/heads/main', 'git push', true],
  ['a branch that is only committed to', REMOTE, 'refs/heads/main', 'git commit -am main', false],
])('W11 a tool call shows who changed it: %s', (_, place, name, call, isShown) => {
  expect(showsChange(call, { place, name, now: '' })).toBe(isShown);
});

test('W11 a workspace is named by its path, or beside another one, and by no longer name', () => {
  const named = ['ls /w/1-a', 'echo > /w/1-a/x', 'cat "../1-a"/x', 'cd ../1-a && ls'];
  expect(named.map((text) => namesWorkspace(text, '/w/1-a'))).toEqual(named.map(() => true));
  const others = ['ls /w/1-a-b', 'ls /w/1-a.old', 'ls 1-a', 'ls ../1-ab', 'ls docs/1-a'];
  expect(others.map((text) => namesWorkspace(text, '/w/1-a'))).toEqual(others.map(() => false));
});

const NOTHING: Evidence = { calls: [], scripts: [], otherScripts: [], commits: new Set(), isAlone: false };
const edit = 'echo x > /app/a.txt';

test.each<[string, OutsidePlace, string, Partial<Evidence>, boolean]>([
  ['nothing', APP, '.git/hooks/x', {}, false],
  ['a call', APP, 'a.txt', { calls: [edit] }, true],
  ['its script', APP, 'a.txt', { scripts: [edit] }, true],
  ['a script that others run, too', APP, 'a.txt', { scripts: [edit], otherScripts: [edit] }, false],
  ['a commit that it made', APP, 'refs/heads/main', { commits: new Set(['now']) }, true],
  ['a commit of others', APP, 'refs/heads/main', { commits: new Set(['then']) }, false],
  ['that no other was at work: hooks', APP, '.git/hooks/x', { isAlone: true }, true],
  ['that no other was at work: settings', APP, '.git/config core.hookspath', { isAlone: true }, true],
  ['that no other was at work: another workspace', OTHER, 'a.txt', { isAlone: true }, true],
  ['that no other was at work: your file', APP, 'a.txt', { isAlone: true }, false],
  ['that no other was at work: your branch', APP, 'refs/heads/main', { isAlone: true }, false],
  ['that no other was at work: a remote', REMOTE, 'refs/heads/main', { isAlone: true }, false],
])('W11 what shows that an attempt did it: %s', (_, place, name, evidence, isShown) => {
  expect(isShownBy({ place, name, now: 'now' }, { ...NOTHING, ...evidence })).toBe(isShown);
});
