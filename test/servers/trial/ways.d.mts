/** Ways to die by name; their parameters are in ways.mjs. */
export const ways: Record<string, unknown>;
/** Names of those whose callback is called from another request's work, or from none. */
export const sharedWays: string[];
