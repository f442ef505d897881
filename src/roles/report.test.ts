import { describe, expect, it } from 'vitest';
import { createMask, NO_MASK } from '../core/text/mask.ts';
import { readDevReport, readManagerReport, readQaReport } from './report.ts';

describe('readDevReport', () => {
  const read = (raw: unknown) => readDevReport(raw, 'key-1', NO_MASK);

  it('D4 needs nothing but the overall status', async () => {
    expect(await read({ overall_status: 'SUCCESS' })).toEqual({
      status: 'SUCCESS',
      captured: {},
      selfValidation: [],
      recommendations: [],
      votes: [],
      compacted: false,
    });
  });

  it('D4 reads a whole report, and overlooks what it does not know', async () => {
    const report = await read({
      overall_status: 'FAILED (step 2)',
      steps: [
        { step: 1, status: 'SUCCESS', output: 'ok' },
        { step: '2', status: 'FAILED', output: { code: 1 } },
      ],
      captured_values: { id: 42, live: true, name: 'x', gone: null },
      self_validation: [{ criterion: 'it is there', status: 'pass', reason: null }],
      recommendations: [' wait longer ', 'None', ''],
      error: 'no such page',
      usage: { input_tokens: 10, outputTokens: 5, cost_usd: 'much' },
      votes: [],
      compacted: true,
      key: 'key-1',
      mood: 'good',
    });
    expect(report).toEqual({
      status: 'FAILED (step 2)',
      reason: 'no such page',
      captured: { id: '42', live: 'true', name: 'x' },
      selfValidation: [{ criterion: 'it is there', status: 'PASS' }],
      recommendations: ['wait longer'],
      votes: [],
      compacted: true,
    });
  });

  it('D4 reads captured values as structured output has them', async () => {
    const captured_values = [
      { name: 'id', value: 42 },
      { name: 'gone', value: null },
    ];
    const report = await read({ overall_status: 'SUCCESS', captured_values });
    expect(report).toMatchObject({ captured: { id: '42' } });
  });

  it.each(['None', 'none.', '', null, []])('D4 takes %j as no recommendation', async (recommendations) => {
    expect(await read({ overall_status: 'SUCCESS', recommendations })).toMatchObject({ recommendations: [] });
  });

  it.each([
    ['the report is not an object', 'SUCCESS'],
    ['the report is missing', undefined],
    ['overall_status is missing', { status: 'SUCCESS' }],
    ['overall_status is none of SUCCESS, FAILED (step N), FAILED (validation)', { overall_status: 'SUCCESS, mostly' }],
    ['captured_values.id is not text', { overall_status: 'SUCCESS', captured_values: { id: {} } }],
    [
      'self_validation[0].status is neither PASS nor FAIL',
      { overall_status: 'SUCCESS', self_validation: [{ criterion: 'a', status: 'OK' }] },
    ],
    ['recommendations is neither a list of texts nor "None"', { overall_status: 'SUCCESS', recommendations: 7 }],
    ['the key is that of another item', { overall_status: 'SUCCESS', key: 'key-2' }],
  ])('D4 says what is wrong: %s', async (reason, raw) => {
    expect(await read(raw)).toEqual({ unusable: reason });
  });

  it('D4 is no success while a criterion fails in the eyes of the dev itself', async () => {
    const raw = {
      overall_status: 'SUCCESS',
      self_validation: [{ criterion: 'has a title', status: 'FAIL', reason: 'it is empty' }],
    };
    expect(await read(raw)).toMatchObject({ status: 'FAILED (validation)', reason: 'has a title: it is empty' });
  });
});

describe('a report without bounds', () => {
  const long = 'x'.repeat(1_000_000);

  it('D4 is masked and then cut, text by text and list by list', async () => {
    const secret = 'sk-live-51H8xQ2eZvKYlo2C';
    const edge = `${'x'.repeat(980)}${secret}${'x'.repeat(20_000)}`;
    const report = await readDevReport(
      {
        overall_status: 'FAILED (step 1)',
        error: edge,
        steps: Array.from({ length: 5000 }, () => ({ step: 1, status: 'FAILED', output: edge })),
        self_validation: Array.from({ length: 5000 }, () => ({ criterion: edge, status: 'PASS', reason: edge })),
        recommendations: Array.from({ length: 5000 }, () => edge),
      },
      'key-1',
      createMask({ KEY: secret }),
    );
    expect(JSON.stringify(report).length).toBeLessThan(100 * 4 * 4500);
    expect(JSON.stringify(report)).not.toContain('sk-live-');
  });

  it('D4 Q3 stays a failed one, however many passed criteria stand before the one that failed', async () => {
    const passed = Array.from({ length: 5000 }, (_, i) => ({ criterion: `c${i}`, status: 'PASS' }));
    const failed = { criterion: 'the last', status: 'FAIL', reason: 'it is not so' };
    const dev = await readDevReport({ overall_status: 'SUCCESS', self_validation: [...passed, failed] }, 'k', NO_MASK);
    expect(dev).toMatchObject({ status: 'FAILED (validation)' });
    const qa = await readQaReport({ overall_status: 'PASS', criteria: [...passed, failed] }, ['c1'], NO_MASK);
    expect(qa).toMatchObject({ status: 'FAIL', reason: 'the last: it is not so' });
  });

  it('L2 is refused where a step would be longer than anybody reads', async () => {
    const report = await readManagerReport({ lessons: [{ text: long, from: [1] }] });
    expect(report).toEqual({ unusable: 'lessons[0].text is longer than 4000 characters' });
  });
});

describe('readQaReport', () => {
  const asked = ['The page exists', 'The title is `Home`'];
  const read = (overall_status: string, criteria: unknown, summary?: string) =>
    readQaReport({ overall_status, criteria, summary }, asked, NO_MASK);
  const pass = (criterion: string) => ({ criterion, status: 'PASS' });

  it('Q3 passes when each criterion that was asked has passed', async () => {
    const verdicts = asked.map(pass);
    expect(await read('PASS', asked.map(pass))).toEqual({ status: 'PASS', verdicts, votes: [] });
    expect(await read('PASS', [pass('2. the title is "Home"'), pass('1. The page exists.')])).toMatchObject({
      status: 'PASS',
      verdicts,
    });
    expect(await read('PASS', [pass('page'), pass('title')])).toMatchObject({ status: 'PASS', verdicts });
  });

  it('Q3 fails a criterion without a verdict, also if another is judged twice', async () => {
    const missing = { criterion: asked[1], status: 'FAIL', reason: 'Unable to verify: no verdict was given' };
    const reason = `${asked[1]}: ${missing.reason}`;
    expect(await read('PASS', [pass(asked[0]!)])).toMatchObject({
      status: 'FAIL',
      reason,
      verdicts: [pass(asked[0]!), missing],
    });
    expect(await read('PASS', [pass(asked[0]!), pass(asked[0]!)])).toMatchObject({ status: 'FAIL', reason });
    expect(await read('PASS', [])).toMatchObject({ status: 'FAIL' });
    expect(await read('PASS', [pass('all is well')])).toMatchObject({
      status: 'FAIL',
      verdicts: [{ status: 'FAIL' }, missing],
    });
  });

  it('Q3 fails with any criterion that failed, whatever the overall verdict says', async () => {
    const fail = { criterion: asked[1], status: 'FAIL', reason: 'it is `Hom`' };
    expect(await read('PASS', [pass(asked[0]!), fail])).toMatchObject({
      status: 'FAIL',
      reason: `${asked[1]}: it is \`Hom\``,
    });
    expect(await read('PASS', [...asked.map(pass), fail])).toMatchObject({
      status: 'FAIL',
      verdicts: [pass(asked[0]!), fail],
    });
    const other = { criterion: 'No links are broken', status: 'FAIL' };
    expect(await read('PASS', [...asked.map(pass), other])).toMatchObject({
      reason: 'No links are broken: no reason was given',
    });
  });

  it('Q3 fails with the summary when only the overall verdict is FAIL', async () => {
    expect(await read('FAIL', asked.map(pass), 'it looks odd')).toMatchObject({
      status: 'FAIL',
      reason: 'it looks odd',
    });
    expect(await read('FAIL', undefined, 'no page')).toMatchObject({ status: 'FAIL', reason: 'no page' });
  });

  it('Q4 is no verdict when it says nothing about the criteria', async () => {
    expect(await read('PASS', undefined)).toEqual({ unusable: 'criteria is missing' });
    expect(await read('MAYBE', [])).toEqual({ unusable: 'overall_status is neither PASS nor FAIL' });
    expect(await read('PASS', [{ criterion: 'a' }])).toEqual({ unusable: 'criteria[0].status is missing' });
  });
});

describe('what a report says about lessons', () => {
  const lessons = [
    { id: 'L1', effect: 'Helped', reason: 'fast' },
    { id: 'L2: step 6', effect: 'harmed' },
    { id: 'L2', effect: 'helped' },
    { id: 'L3', effect: 'so-so' },
    'L4',
    null,
  ];
  const harmed = { lesson: 'L2', effect: 'harmed', reason: '' };

  it('L2 counts once for each lesson, and `harmed` wins', () => {
    expect(readDevReport({ overall_status: 'SUCCESS', lessons }, 'k', NO_MASK)).toMatchObject({
      status: 'SUCCESS',
      votes: [{ lesson: 'L1', effect: 'helped', reason: 'fast' }, harmed],
    });
    const qa = { overall_status: 'PASS', criteria: [{ criterion: 'a', status: 'PASS' }], lessons };
    expect(readQaReport(qa, ['a'], NO_MASK)).toMatchObject({ status: 'PASS', votes: [harmed] });
  });

  it.each([undefined, null, 'none', {}])('L2 is nothing for %j, and the report is usable', (value) => {
    expect(readDevReport({ overall_status: 'SUCCESS', lessons: value }, 'k', NO_MASK)).toMatchObject({ votes: [] });
  });
});

describe('readManagerReport', () => {
  it('L2 reads groups of recommendations, and what a model leaves out as null', () => {
    const lessons = [
      { text: 'a', from: ['1', 2], after: '0' },
      { text: 'b', from: [3], same_as: 'L2', after: null },
    ];
    expect(readManagerReport({ lessons, summary: ' s ' })).toEqual({
      lessons: [
        { text: 'a', from: [1, 2], same_as: null, after: 0 },
        { text: 'b', from: [3], same_as: 'L2', after: null },
      ],
      summary: 's',
    });
  });

  it.each([
    ['lessons is missing', {}],
    ['lessons[0].text is missing', { lessons: [{ from: [1] }] }],
    ['lessons[0].from is missing', { lessons: [{ text: 'a' }] }],
    ['lessons[0].from[0] is not a number', { lessons: [{ text: 'a', from: ['all'] }] }],
    ['lessons[0].after is not a number', { lessons: [{ text: 'a', from: [1], after: 'last' }] }],
  ])('L6 has no usable answer: %s', async (reason, raw) => {
    expect(await readManagerReport(raw)).toEqual({ unusable: reason });
  });
});
