import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOOK_COMMAND, mergeSettings, removeSettings } from './claude-settings.ts';

const STATUS = 'Bash(nightshift status *)';
const group = (command = `x | ${HOOK_COMMAND}`) => ({ matcher: '*', hooks: [{ type: 'command', command }] });
const ADDITIONS = [
  { path: ['permissions', 'allow'], value: STATUS },
  { path: ['hooks', 'PreToolUse'], value: group() },
  { path: ['hooks', 'SessionStart'], value: { ...group(), matcher: 'compact' } },
];

function merged(before: string | undefined): string {
  const result = mergeSettings(before, ADDITIONS);
  if ('problem' in result) throw new Error(result.problem);
  return result.text;
}

/** Settings as people have them, in every shape that lists and objects on our way may have. */
const theirs = fc.record(
  {
    model: fc.string(),
    permissions: fc.record(
      { allow: fc.array(fc.oneof(fc.constant(STATUS), fc.string())), deny: fc.array(fc.string()) },
      { requiredKeys: [] },
    ),
    hooks: fc.record(
      {
        PreToolUse: fc.array(fc.oneof(fc.constant(group('lint')), fc.constant({}), fc.constant({ hooks: [] }))),
        Stop: fc.array(fc.constant(group('say "done"'))),
      },
      { requiredKeys: [] },
    ),
    env: fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<unknown>),
  },
  { requiredKeys: [] },
);

const asText = fc
  .tuple(theirs, fc.constantFrom('', '  ', '\t', '    '), fc.boolean(), fc.constantFrom('', '\n', '\n\n'), fc.boolean())
  .map(([value, indent, isCrlf, end, hasMark]) => {
    // Empty containers as some editors write them.
    const text = `${JSON.stringify(value, null, indent)}${end}`.replace(
      /(?<!\\)(": ?)\[\]/g,
      isCrlf ? '$1[\n]' : '$1[]',
    );
    return (hasMark ? '\uFEFF' : '') + (isCrlf ? text.replaceAll('\n', '\r\n') : text);
  });

test('O1 settings: what init adds can be taken away again, to the byte, and is added once', () => {
  fc.assert(
    fc.property(asText, (before) => {
      const after = merged(before);
      const value = JSON.parse(after.replace(/^\uFEFF/, ''));
      expect(value.permissions.allow.at(-1)).toBe(STATUS);
      expect(value.hooks.PreToolUse.at(-1)).toEqual(group());
      expect(value.hooks.SessionStart).toHaveLength(1);
      expect(merged(after)).toBe(after);
      expect(removeSettings(after, ADDITIONS)).toEqual({ text: before });
      expect(removeSettings(before, ADDITIONS)).toEqual({ text: before });
    }),
    { numRuns: 200 },
  );
  const made = merged(undefined);
  expect(made).toBe(`${JSON.stringify(JSON.parse(made), null, 2)}\n`);
  expect(merged(made)).toBe(made);
  expect(removeSettings(made, ADDITIONS)).toEqual({});
  expect(removeSettings(undefined, ADDITIONS)).toEqual({});
});

test('O1 settings: an older hook of ours is replaced, and what a person put around it stays', () => {
  const older = {
    hooks: {
      PreToolUse: [group('lint'), { matcher: 'Bash', hooks: [...group('theirs').hooks, ...group().hooks] }],
      Stop: [group(`older; ${HOOK_COMMAND}`)],
    },
    permissions: { allow: [STATUS, 'Read', STATUS, 'Write'] },
  };
  const text = JSON.stringify(older, null, 2);
  const value = JSON.parse(merged(text));
  const kept = { matcher: 'Bash', hooks: group('theirs').hooks };
  expect(value.hooks.PreToolUse).toEqual([group('lint'), kept, group()]);
  expect(value.hooks.Stop).toBeUndefined();
  expect(value.permissions.allow).toEqual([STATUS, 'Read', 'Write', STATUS]);
  const rest = removeSettings(text, ADDITIONS) as { text: string };
  expect(JSON.parse(rest.text)).toEqual({
    hooks: { PreToolUse: [group('lint'), kept] },
    permissions: { allow: [STATUS, 'Read', 'Write'] },
  });
});

test.each([
  ['{"a": 1,\n "b" 2}', /^it is not JSON: /, 2],
  ['', /^it is not JSON: /],
  ['[]', /^it holds no JSON object$/],
  ['// mine\n{}', /^it is not JSON: /],
  ['{"hooks": []}', /^`hooks` in it is not an object$/],
  ['{"hooks": {"Stop": {}}}', /^`hooks.Stop` in it is not a list$/],
  ['{"permissions": "all"}', /^`permissions` in it is not an object$/],
  ['{"permissions": {"allow": null}}', /^`permissions.allow` in it is not a list$/],
  ['{"hooks": {}, "hooks": {}}', /^`hooks` in it is not there once only$/],
])('O1 settings that are broken or odd are left as they are: %j', (text, problem, line?: number) => {
  const result = mergeSettings(text, ADDITIONS);
  expect(result).toMatchObject({ problem: expect.stringMatching(problem), ...(line ? { line } : {}) });
});
