/** Ways to die by their name; what each takes is in ways.mjs. */
export const ways: Record<string, unknown>;
/** Those whose callback is called out of another's work, or out of nobody's. */
export const sharedWays: string[];
