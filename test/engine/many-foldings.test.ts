import { expect, test } from 'vitest';
import { parseTask, replaceSteps, stepTexts } from '../../src/formats/task.ts';
import { SimulatedShift } from '../kit/simulated-shift.ts';

const THINGS = ['paper', 'glass', 'timber', 'copper', 'velvet', 'marble', 'leather', 'silver', 'ivory', 'linen'];
const DEEDS = ['Wipe the {thing} gently', 'Lift {thing} slowly, then rest', 'Dust off any {thing} near {name}'];
const ROWS = 500;

/** A sentence that some later rows repeat. */
function sentence(row: number): string {
  const deed = DEEDS[row % DEEDS.length]!;
  const [first, second] = [THINGS[row % THINGS.length]!, THINGS[(row * 7 + 3) % THINGS.length]!];
  return `${deed.replace('{thing}', `${first} ${second}`)} with the tool of ${second}s`;
}

const sectionsOf = (text: string) => text.split(/^(?=## )/m);

test('L3 L9 500 foldings: only the Steps change, within the budget, and every version can be restored', async () => {
  const versions: string[] = [];
  const shift = new SimulatedShift({
    rows: ROWS,
    settings: { lessons: 'eager', 'max-lessons': 7, 'max-lessons-size': '512 B' },
    play: ({ role, item, lessons = [] }) => {
      if (role !== 'dev') return { ms: 1 };
      // Each row blames one lesson, and another one helps.
      const [harmed, helped] = [lessons[item.index % 7], lessons[(item.index + 3) % 7]];
      const votes = [
        ...(harmed ? [{ lesson: harmed.id, effect: 'harmed' as const, reason: 'no' }] : []),
        ...(helped && helped !== harmed ? [{ lesson: helped.id, effect: 'helped' as const, reason: '' }] : []),
      ];
      return { ms: 1, votes, recommendations: [sentence(item.index)] };
    },
    onStepsWritten: async (_, text) => versions.push(text),
  });
  const original = shift.text('make');
  const { events } = await shift.run();
  const folded = events.filter(({ type }) => type === 'steps:changed' || type === 'steps:kept');
  expect(folded).toHaveLength(ROWS);
  expect(versions.length).toBeGreaterThan(50);
  const [head, configuration, , validation] = sectionsOf(`x\n${original}`);
  for (const text of versions) {
    const sections = sectionsOf(`x\n${text}`);
    expect([sections[0], sections[1], sections[3]]).toEqual([head, configuration, validation]);
    const [author, ...lessons] = stepTexts(parseTask(text, 'make.md'));
    expect(author).toBe('Do {name}');
    expect(lessons.length).toBeLessThanOrEqual(7);
    expect(Buffer.byteLength(lessons.join(''))).toBeLessThanOrEqual(512);
    expect(new Set(lessons).size).toBe(lessons.length);
  }
  const last = versions.at(-1)!;
  for (const text of versions) expect(replaceSteps(last, stepTexts(parseTask(text, 'make.md')))).toBe(text);
  // Ids are never used again.
  const isNew = events.filter(({ type, from }) => type === 'lesson:changed' && from === undefined);
  expect(new Set(isNew.map(({ id }) => id)).size).toBe(isNew.length);
});

test('L3 a path below the working folder is not outside of it, however it is named', async () => {
  const texts = ['Read /r/notes/terms.md before you write', 'Keep a list in /srv/terms.md of what you found'];
  const shift = new SimulatedShift({
    rows: 2,
    play: ({ role, item }) => (role === 'dev' ? { recommendations: [texts[item.index]!] } : {}),
  });
  await shift.run();
  expect(shift.lessons).toMatchObject([
    { text: 'Read notes/terms.md before you write', state: 'firm' },
    { text: texts[1], state: 'held' },
  ]);
});
