import type { Template } from '../language/template.ts';
import { LARGEST_CELL, type Settings } from '../model/model.ts';
import type { DeliveryKind, DeliveryTemplate } from './plan.ts';

/** Outputs that the engine fills when it delivers. */
export const DELIVERY_OUTPUTS = ['branch', 'commit', 'pr_url', 'pr_state'] as const;
export type DeliveryOutput = (typeof DELIVERY_OUTPUTS)[number];

/** Whether a delivery of this kind has a value for the output. */
export function isFilledBy(output: DeliveryOutput, kind: DeliveryKind): boolean {
  return kind === 'pr' || !output.startsWith('pr_');
}

/** The outputs of a task that the engine fills at delivery. Without a delivery, all outputs are the dev's. */
export function engineOutputs(
  { outputs }: Pick<Settings, 'outputs'>,
  workspace: { readonly delivery: { readonly kind: DeliveryKind } } | undefined,
): DeliveryOutput[] {
  if (workspace === undefined || workspace.delivery.kind === 'none') return [];
  return DELIVERY_OUTPUTS.filter((name) => outputs.includes(name));
}

/** The outputs that the dev reports. */
export function devOutputs({
  settings,
  workspace,
}: {
  readonly settings: Pick<Settings, 'outputs'>;
  readonly workspace?: { readonly delivery: { readonly kind: DeliveryKind } };
}): string[] {
  const filled: readonly string[] = engineOutputs(settings, workspace);
  return settings.outputs.filter((name) => !filled.includes(name));
}

/** Why a value of an output can't be in the table: it could not be read back. */
export function whyNoCell(value: string): string | undefined {
  if (value.includes('\0')) return 'holds a NUL byte';
  return Buffer.byteLength(value) > LARGEST_CELL ? 'is larger than a cell can be (1 MiB)' : undefined;
}

/** The columns that the templates of a delivery name. */
export function deliveryColumns({ into, author, message, title, body, prCommand }: DeliveryTemplate): Set<string> {
  const templates = [into, author, message, title, body].flatMap((each: Template | undefined) => each?.segments ?? []);
  const slots = (prCommand?.parts ?? []).flatMap((part) => (typeof part === 'string' ? [] : [part.placeholder]));
  const placeholders = [...templates.flatMap((segment) => (typeof segment === 'string' ? [] : [segment])), ...slots];
  return new Set(placeholders.flatMap(({ kind, name }) => (kind === 'column' ? [name] : [])));
}
