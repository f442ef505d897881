import { format } from 'money';

export function invoiceLine(name, count, cents) {
  return `${count} x ${name}: ${format(count * cents)}`;
}
