/**
 * The redaction policy of this process: made at the first need, from the variables as they are now and as they were at
 * exec (a host may have deleted a secret that its heap still holds), and the values that the host registered.
 */
import { homedir } from 'node:os';
import { platform } from '../platform/index.ts';
import { createPolicy, type Policy } from '../redaction/policy.ts';
import { canary } from './canary.ts';
import { secretsOfRecipient } from './recipient-secrets.ts';
import type { Surroundings } from './surroundings.ts';

let known: readonly string[] = [];
let names: { allow?: string[]; deny?: string[] } = {};
let policy: Policy | undefined;

/** Takes the host's values and names as they are now; the policy itself is made when it is needed. */
export function configurePolicy({ config, withheld }: Surroundings): void {
  names = { allow: config.allow, deny: config.deny };
  known = [...withheld, ...secretsOfRecipient(config.recipient), canary()];
  policy = undefined;
}

export function currentPolicy(): Policy {
  policy ??= createPolicy({
    environment: { ...environmentAtExec(), ...process.env },
    known,
    home: homedir(),
    ...names,
  });
  return policy;
}

/** The same policy for what is recorded while the program lives; its counts are its own. */
export function createRecordingPolicy(surroundings: Surroundings): Policy {
  configurePolicy(surroundings);
  const own = currentPolicy();
  policy = undefined;
  return own;
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
