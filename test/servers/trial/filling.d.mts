/** Ways to fill the heap by name; their parameters are in filling.mjs. */
export const fillings: Record<string, unknown>;
/** Ways to block the loop or to end the process. */
export const stops: Record<string, unknown>;
/** Names of those in which one request runs the work of others. */
export const sharedFillings: string[];
