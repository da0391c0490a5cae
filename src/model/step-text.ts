/** How a step of an agent is called in sentences. Pure. */

/** `step plan`, and `step 1` of a framework that calls it so itself. */
export function stepText(name: string): string {
  return /^step\b/i.test(name) ? name : `step ${name}`;
}
