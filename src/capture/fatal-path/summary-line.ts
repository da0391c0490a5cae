/** The line on standard error about a bundle that was written. */

import type { TriggerPart } from '../../bundle/layout/bundle.ts';
import { testRunVariable } from '../../bundle/layout/tests.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import type { Config } from '../install/config.ts';
import { writeStderrLine } from '../install/stderr-line.ts';

interface Written {
  trigger: TriggerPart;
  config: Config;
  /** Redacted. */
  path: string;
  tookMs: number;
  lock: Lock | undefined;
  /** Parts that could not be written to the disk. */
  unwritten?: readonly { part: string; code: string }[];
  /** Why it could not be sealed. */
  unsealed?: string | undefined;
}

const keyOptions = { none: '', recipients: ' --identity FILE', passphrase: ' --passphrase-file FILE' };

/** Under `agentdump ci` the report names the bundle at its final place; bundles of a green run are removed. */
export function isToldLater(): boolean {
  return Boolean(process.env[testRunVariable]);
}

export function announce(written: Written): void {
  if (!isToldLater()) writeStderrLine(summaryLine(written));
}

/** One line, without its prefix. A bundle that will soon be removed is described without its path. */
function summaryLine({ trigger, config, path, tookMs, lock, unwritten = [], unsealed }: Written): string {
  const what = `${trigger.verdictKind}${trigger.handledByHost ? ' (handled by the program)' : ''}`;
  const took = `(${Math.round(tookMs)} ms)`;
  if (config.isPassing) return `${what} ${took}`;
  const command = `agentdump analyze latest${keyOptions[lock?.kind ?? 'none']}`;
  const without = unwritten.length > 0 ? ` without ${listOf(unwritten)}` : '';
  const torn = unsealed === undefined ? '' : `, not sealed (${unsealed}),`;
  return `${what}: ${path}${torn}${without} ${took}; read it with: ${command}`;
}

/** The names of the first few parts, with the error code of the first. */
function listOf(unwritten: readonly { part: string; code: string }[]): string {
  const names = [...new Set(unwritten.map(({ part }) => part))];
  const shown = names.slice(0, mostNamed).join(', ');
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more parts` : '';
  return `${shown}${more}, which could not be written (${unwritten[0]?.code})`;
}

const mostNamed = 4;
