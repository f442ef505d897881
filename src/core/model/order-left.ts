/**
 * The run ends and leaves the order with its worker. Nothing is recorded about its item, as after a crash: the next run
 * adopts the order.
 */
export class OrderLeft extends Error {
  override readonly name = 'OrderLeft';

  constructor() {
    super('the order was left with its worker');
  }
}
