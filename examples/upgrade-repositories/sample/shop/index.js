import { format, parse } from 'money';

/** Prices are typed without a currency: "12.34". */
export function addUp(prices) {
  return format(prices.map((price) => parse(price)).reduce((sum, cents) => sum + cents, 0));
}
