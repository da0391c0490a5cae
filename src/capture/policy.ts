/**
 * The redaction policy of this process: made at the first need, from the variables as they are now and as they were at
 * exec (a host may have deleted a secret that its heap still holds), and the values that the host registered.
 */
import { homedir } from 'node:os';
import { createPolicy, type Policy } from '../redaction/policy.ts';
import { readSmallFile } from './proc-files.ts';

const withheld: string[] = [];
let lists: { allow: string[]; deny: string[] } = { allow: [], deny: [] };
let policy: Policy | undefined;

/** Names to keep or to withhold, from the configuration. */
export function configurePolicy(names: { allow: string[]; deny: string[] }): void {
  lists = names;
  policy = undefined;
}

/** Adds a value that may be seen in no part. */
export function withholdValue(value: string): void {
  withheld.push(value);
  policy?.addKnown(value);
}

export function currentPolicy(): Policy {
  policy ??= createPolicy({
    environment: { ...environmentAtExec(), ...process.env },
    known: withheld,
    home: homedir(),
    ...lists,
  });
  return policy;
}

function environmentAtExec(): Record<string, string> {
  const pairs = (readSmallFile('/proc/self/environ', 2 * 1024 * 1024) ?? '').split('\0');
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const equals = pair.indexOf('=');
      return equals > 0 ? [[pair.slice(0, equals), pair.slice(equals + 1)] as const] : [];
    }),
  );
}
