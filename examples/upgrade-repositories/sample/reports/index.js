import { format } from 'money';

export function report(sales) {
  return sales.map(({ day, cents }) => `${day}  ${format(cents)}`).join('\n');
}
