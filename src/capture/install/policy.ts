/** The redaction policy of the bundle that is written: created on first use. */
import type { Policy } from '../../redaction/policy.ts';
import { canary } from '../fatal-path/canary.ts';
import type { Surroundings } from '../fatal-path/surroundings.ts';
import { policyOf } from './policy-of.ts';
import { secretsOfRecipient } from './recipient-secrets.ts';

let known: readonly string[] = [];
let names: { allow: string[]; deny: string[] } = { allow: [], deny: [] };
let policy: Policy | undefined;

/** Takes the host's values and names as they are now; the policy itself is created on first use. */
export function configurePolicy({ config, withheld }: Surroundings): void {
  names = { allow: config.allow, deny: config.deny };
  known = [...withheld, ...secretsOfRecipient(config.recipient), canary()];
  policy = undefined;
}

export function currentPolicy(): Policy {
  policy ??= policyOf(known, names);
  return policy;
}
