/** A thrown value, and its causes according to its fields. Runs none of the host's code. */
import { findField } from './read-field.ts';

const longestChain = 8;
const mostMembers = 16;

/** The value first, then the cause of each. */
export function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let next = thrown; next !== undefined && chain.length < longestChain; next = findField(next, 'cause'))
    chain.push(next);
  return chain;
}

/** The same, followed by the members of aggregate errors. */
export function everyCauseOf(thrown: unknown): unknown[] {
  const chain = causesOf(thrown);
  const members = chain.flatMap((one) => {
    const errors = findField(one, 'errors');
    return Array.isArray(errors) ? errors.slice(0, mostMembers).flatMap(causesOf) : [];
  });
  return [...chain, ...members];
}
