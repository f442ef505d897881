import { z } from 'zod';

export const shift = z.string().describe('the name of the shift, in kebab-case');
export const task = z.string().describe('the name of the task, in snake_case');
export const row = z.int().min(1).describe('1-based');

/** A table, as text or as a file. */
export const items = {
  csv: z.string().optional().describe('CSV (RFC 4180) with a header line'),
  file: z.string().optional().describe('instead of csv: a .csv file inside the project'),
};
