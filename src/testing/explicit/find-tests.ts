/** Where the explicit reporters report tests: the preload of this thread, if it is loaded. */
import { findHost } from '../../agent/api/context.ts';
import type { TestPort } from '../../agent/api/test-port.ts';

export function findTests(): TestPort | undefined {
  return findHost()?.tests;
}
