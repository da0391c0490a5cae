/**
 * A redaction policy for this process: from the variables as they are now and as they were at exec (a host may have deleted a
 * secret that its heap still contains), its command line, and the values that the host registered.
 */
import { homedir } from 'node:os';
import { types } from 'node:util';
import { platform } from '../../platform/index.ts';
import { createPolicy, type Policy } from '../../redaction/policy.ts';
import type { Config } from './config.ts';

export function policyOf(
  known: readonly string[],
  { allow, deny }: Pick<Config, 'allow' | 'deny'>,
  learns = false,
): Policy {
  return createPolicy({
    environment: { ...environmentAtExec(), ...process.env },
    commandLine: commandLine(),
    known,
    home: findHome(),
    allow,
    deny,
    learns,
    isProxy: types.isProxy,
  });
}

/** The program may have put there what throws, and objects, whose texts are code of its own. */
function commandLine(): string[] {
  try {
    return [...process.argv, ...process.execArgv].filter((word) => typeof word === 'string');
  } catch {
    return [];
  }
}

/** The program may have replaced functions of node:os. */
function findHome(): string {
  try {
    const home: unknown = homedir();
    if (typeof home === 'string') return home;
  } catch {
    // It throws.
  }
  return process.env['HOME'] ?? '';
}

function environmentAtExec(): Record<string, string> {
  const pairs = (platform.processFile('self', 'environ', 2 * 1024 * 1024) ?? '').split('\0');
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const equals = pair.indexOf('=');
      return equals > 0 ? [[pair.slice(0, equals), pair.slice(equals + 1)] as const] : [];
    }),
  );
}
