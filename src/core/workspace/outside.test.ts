import { expect, test } from 'vitest';
import { namesOf, outsideChanges, showsChange } from './outside.ts';

test('W11 what changed outside of workspaces is named; new branches harm nothing', () => {
  const before = new Map(Object.entries({ 'refs/heads/main': '1', HEAD: 'a', 'a.txt': 'x', 'gone.txt': 'y' }));
  const after = new Map(
    Object.entries({ 'refs/heads/main': '2', 'refs/heads/new': '3', HEAD: 'a', 'b.txt': 'x', 'a.txt': 'x' }),
  );
  const changes = outsideChanges('/app', before, after);
  expect(changes.map(({ name }) => name)).toEqual(['b.txt', 'gone.txt', 'refs/heads/main']);
  const many = Array.from({ length: 7 }, (_, i) => ({ repository: '/app', name: `${i}` }));
  expect(namesOf(many)).toBe('0, 1, 2, 3, 4 and 2 more');
});

test.each([
  ['a path', 'src/a.txt', 'echo x > /app/src/a.txt', true],
  ['a path of its own', 'src/a.txt', 'echo x > src/a.txt', false],
  ['its folder and name', 'src/a.txt', 'cd /app/src && echo x > a.txt', true],
  ['another file there', 'src/a.txt', 'cat /app/README.md', false],
  ['git there', 'HEAD', 'git -C /app checkout other', true],
  ['a setting', '.git/config core.hooksPath', 'git config core.hooksPath /x', true],
  ['a branch that is moved', 'refs/heads/main', 'git branch -f main HEAD', true],
  ['a branch that is read', 'refs/heads/main', 'git diff main', false],
])('W11 a tool call shows who changed it: %s', (_, name, call, isShown) => {
  expect(showsChange(call, { repository: '/app', name })).toBe(isShown);
});
