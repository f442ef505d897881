export interface DeliveryTexts {
  readonly message: string;
  readonly title: string;
  readonly body: string;
}

interface Row {
  readonly shift: string;
  /** From 1. */
  readonly row: number;
  readonly label?: string | undefined;
}

/** What a commit and a pull request say, where the shift does not say it. */
export function deliveryTexts(
  own: { readonly [K in keyof DeliveryTexts]: string | undefined },
  { shift, row, label }: Row,
): DeliveryTexts {
  const subject = firstLine(own.message) ?? `${shift}: ${label ?? `row ${row}`}`;
  const origin = `Row ${row} of the Nightshift shift ${shift}.`;
  return {
    message: own.message?.trim() || `${subject}\n\n${origin}`,
    title: firstLine(own.title) ?? subject,
    body: own.body?.trim() || restOf(own.message) || origin,
  };
}

function firstLine(text: string | undefined): string | undefined {
  return text?.trim().split('\n')[0]?.trim() || undefined;
}

function restOf(message: string | undefined): string {
  return message?.trim().split('\n').slice(1).join('\n').trim() ?? '';
}
