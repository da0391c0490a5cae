/** Ways to fill the heap by their name; what each takes is in filling.mjs. */
export const fillings: Record<string, unknown>;
/** Ways to block the loop or to end the process. */
export const stops: Record<string, unknown>;
/** Those in which a request runs the work of others. */
export const sharedFillings: string[];
