/** What is counted by name: how many deaths of a signature each host, program and so on has had. */

/** Columns of a death, and their names in the index. */
export const dimensions = ['program', 'host', 'node', 'environment', 'agent', 'started_as'] as const;
export type Dimension = (typeof dimensions)[number];

/**
 * The most names of one signature in a dimension, or slightly more if several senders add some at once. Where each death has
 * a host of its own, as with containers, or a hostile sender invents them, the deaths of all further names are counted
 * together, under the empty name.
 */
export const mostNames = 1_000;

/** Rows of a dimension and its name, which may be null, for a row of deaths. */
export const namesOf = (death: string): string =>
  `values ${dimensions.map((one) => `('${one}', ${death}.${one})`).join(', ')}`;
