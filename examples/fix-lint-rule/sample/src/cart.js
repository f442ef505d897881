/** Quantities come from a form, so they may be texts. */
export function total(lines) {
  let sum = 0;
  for (const { price, quantity } of lines) {
    if (quantity == 0) continue;
    sum += price * quantity;
  }
  return sum;
}

export function isEmpty(cart) {
  return cart == null || cart.lines.length == 0;
}
