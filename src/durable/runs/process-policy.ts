/** The redaction policy of this process for its durable runs, built once because that takes milliseconds. */
import { createPolicy, type Policy } from '../../redaction/policy.ts';

let policy: Policy | undefined;

export function processPolicy(): Policy {
  policy ??= createPolicy({ environment: process.env });
  return policy;
}
