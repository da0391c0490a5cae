/** The redaction policy of the bundle that is written: created on first use. What it withholds once it withholds everywhere. */
import type { Policy } from '../../redaction/policy.ts';
import { canary } from '../fatal-path/canary.ts';
import type { Surroundings } from '../fatal-path/surroundings.ts';
import { policyOf } from './policy-of.ts';
import { secretsOfRecipient } from './recipient-secrets.ts';

let known: readonly string[] = [];
let names: { allow: string[]; deny: string[] } = { allow: [], deny: [] };
let policy: Policy | undefined;

/** Takes the host's values and names as they are now; the policy itself is created on first use. */
export function configurePolicy({ config, withheld, recordingPolicy }: Surroundings): void {
  names = { allow: config.allow, deny: config.deny };
  const recorded = recordingPolicy?.policy.findings() ?? [];
  known = [...withheld, ...recorded, ...secretsOfRecipient(config.recipient), canary()];
  policy = undefined;
}

export function currentPolicy(): Policy {
  policy ??= policyOf(known, names, true);
  return policy;
}
