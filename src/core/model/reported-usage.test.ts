import { expect, test } from 'vitest';
import { PrintedUsage, reportedUsage } from './reported-usage.ts';

test.each([
  [{ cost_usd: 0.3 }, { costUsd: 0.3 }],
  [{ usage: { cost_usd: '0.3' } }, { costUsd: 0.3 }],
  [{ usage: { costUsd: '$0.30' } }, { costUsd: 0.3 }],
  [{ usage: { cost_usd: '0,3' } }, { costUsd: 0.3 }],
  [{ usage: { cost_usd: ' 1,200.5 USD ' } }, { costUsd: 1200.5 }],
  [{ usage: { cost: { input: 0.1, total: 0.3 } } }, { costUsd: 0.3 }],
  [
    {
      usage: [
        { cost: 0.1, input_tokens: 1 },
        { cost: 0.25, output_tokens: 2 },
      ],
    },
    { costUsd: 0.35, inputTokens: 1, outputTokens: 2 },
  ],
  [{ USAGE: { COST_USD: 0.3, 'Input-Tokens': 5 } }, { costUsd: 0.3, inputTokens: 5 }],
  [{ usage: '{"cost_usd": 0.3}' }, { costUsd: 0.3 }],
  [{ usage: '{"cost_usd": 0.' }, undefined],
  [JSON.parse('{"usage": {"__proto__": {"cost_usd": 1}, "constructor": 2, "cost_usd": 0.3}}'), { costUsd: 1 }],
  [{ usage: { cost_cents: 30 } }, { unreadCosts: 1 }],
  [{ usage: { price: '3 EUR' } }, { unreadCosts: 1 }],
  [{ usage: { cost_currency: 'EUR', cost_details: { input: 1 }, cost_cents: 0 } }, undefined],
  [{ usage: { cost_eur: 0.3, cost_usd: 0.4 } }, { costUsd: 0.4 }],
  [{ report: { usage: { total_cost: 0.3 } } }, { costUsd: 0.3 }],
  [{ usage: { cost_usd: null, input_tokens: '1,200' } }, { inputTokens: 1200 }],
  [{ usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } }, { inputTokens: 5, outputTokens: 2 }],
  [{ usage: { total_tokens: 7 } }, { inputTokens: 7 }],
  // As Claude Code prints it.
  [
    {
      total_cost_usd: 0.3,
      usage: { input_tokens: 1, cache_read_input_tokens: 10, cache_creation_input_tokens: 100, output_tokens: 5 },
      modelUsage: { opus: { inputTokens: 1, outputTokens: 5, costUSD: 0.2 } },
    },
    { inputTokens: 111, outputTokens: 5, costUsd: 0.3 },
  ],
  [{ usage: { cost_usd: 'much' } }, { unreadCosts: 1 }],
  [{ usage: { cost_usd: -1 } }, { unreadCosts: 1 }],
  [{ usage: { cost_usd: 1e300 } }, { unreadCosts: 1 }],
  [{ usage: { cost_usd: '5 EUR' } }, { unreadCosts: 1 }],
  [{ usage: { cost_usd: true } }, { unreadCosts: 1 }],
  [{ usage: { cost_usd: 'much' }, total_cost_usd: 2 }, { costUsd: 2 }],
  [{ cost: 5, captured_values: { cost_usd: 9 }, steps: [{ output: { cost_usd: 8 } }] }, undefined],
  [{ overall_status: 'SUCCESS' }, undefined],
  ['SUCCESS', undefined],
])('X6 what %j says was spent', (report, usage) => {
  expect(reportedUsage(report)).toEqual(usage);
});

test('X6 what was printed last is found wherever the output is cut', () => {
  const text = `log {"cost_usd": 0.1}\n${'x'.repeat(500)}{"usage": {"input_tokens": 12, "costUsd": "0.35", "output_`;
  for (const size of [1, 7, 50, 1000]) {
    const printed = new PrintedUsage();
    for (let at = 0; at < text.length; at += size) printed.add(text.slice(at, at + size));
    expect(printed.usage).toEqual({ inputTokens: 12, costUsd: 0.35 });
  }
  const broken = new PrintedUsage();
  broken.add('{"cost_usd": NaN, ');
  expect(broken.usage).toEqual({ unreadCosts: 1 });
  expect(new PrintedUsage().usage).toBeUndefined();
});
