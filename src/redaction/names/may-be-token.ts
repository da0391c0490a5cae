/** A cheap test for names that need the redactor. In its own file, so that callers don't have to load the redactor. */

/** Tokens contain a digit and are longer than most names; all other names skip the redactor. */
const shape = /^(?=.*\d).{12}/s;

export const mayBeToken = (name: string): boolean => shape.test(name);
