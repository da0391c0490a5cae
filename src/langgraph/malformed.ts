/** The error for a damaged thread. */
import { MalformedInput } from '../errors.ts';

export function malformed(field: string, wanted: string, available: string): MalformedInput {
  return new MalformedInput(`a saved thread is damaged: ${field} should be ${wanted}, is ${available}`, {
    format: 'langgraph-thread',
    field,
    wanted,
    available,
  });
}
