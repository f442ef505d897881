import type { OpencodeClient } from '@opencode-ai/sdk/v2/client';
import { expect, test } from 'vitest';
import { Models } from './opencode-models.ts';

test('X5 a model is looked for once, by however many at once; one that is not there is looked for again', async () => {
  let asked = 0;
  const models = { there: {} } as Record<string, object>;
  const providers = async () => {
    asked++;
    return { data: { providers: [{ id: 'p', models: { ...models } }] } };
  };
  const found = new Models({ config: { providers } } as unknown as OpencodeClient);
  const four = await Promise.all(Array.from({ length: 4 }, () => found.whyNot('/w', 'p/there')));
  expect([four, asked]).toEqual([Array(4).fill(undefined), 1]);
  expect(await found.whyNot('/w', 'p/new')).toMatchObject({ reason: 'opencode has no model p/new' });
  models.new = {};
  expect([await found.whyNot('/w', 'p/new'), await found.whyNot('/w', 'p/new'), asked]).toEqual([
    undefined,
    undefined,
    3,
  ]);
});
