/** Describes child processes and their ends in words. Pure. */
import type { ChildFacts } from '../account.ts';
import { foldCommand } from '../command-text.ts';

/** Ended by a signal, with a non-zero code, left a bundle of its death, or failed to start. */
export function endedBadly({ exitCode, signal, error, bundle }: ChildFacts): boolean {
  if (error !== undefined || signal !== undefined) return true;
  return exitCode === undefined ? bundle !== undefined : exitCode !== 0;
}

/** `4711 (node server.js) ended with exit code 1`; one that could not be started has no id. */
export function childText(child: ChildFacts): string {
  return `${child.pid ? `${child.pid} ` : ''}(${foldCommand(child.command, 80)}) ${endText(child)}`;
}

function endText({ exitCode, signal, error, endedAt, bundle }: ChildFacts): string {
  if (error !== undefined) return `failed: ${error}`;
  if (signal !== undefined) return `ended by ${signal}`;
  if (exitCode !== undefined) return `ended with exit code ${exitCode}`;
  if (bundle !== undefined) return 'died and left a bundle';
  return endedAt === undefined ? 'was running' : 'was gone';
}
