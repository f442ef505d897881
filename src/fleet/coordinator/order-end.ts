/**
 * How an order ended. `lost`: its lease expired; `together`: how many orders were lost with it, including itself.
 * `withdrawn`: before a worker took it. `gone`: the database no longer has it. `left`: the run no longer waits for it.
 */
export type OrderEnd =
  | { readonly kind: 'reported'; readonly report: unknown }
  | { readonly kind: 'lost'; readonly together: number }
  | { readonly kind: 'withdrawn'; readonly reason: string }
  | { readonly kind: 'cancelled' | 'gone' | 'left' };
