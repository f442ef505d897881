import { visibleText } from './visible-text.ts';

/** `row 15 owl`. */
export function rowName({ row, label }: { readonly row: number; readonly label?: string | undefined }): string {
  return label === undefined || label === '' ? `row ${row}` : `row ${row} ${visibleText(label)}`;
}
