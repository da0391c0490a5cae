/**
 * What one part withholds must not stand in another: a part that was written before the policy knew a value is searched for it
 * again. Compressed parts keep no values, and the lines of a journal carry checksums; it was redacted with the command line and
 * the environment known.
 */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import type { Policy } from '../../redaction/policy.ts';

export function withholdFindings(
  writer: BundleWriter,
  policy: Pick<Policy, 'findings' | 'knownOnly' | 'counts' | 'resetCounts'>,
): void {
  if (policy.findings().length === 0) return;
  for (const name of writer.partNames) {
    const bytes = name.endsWith('.gz') || name === partNames.journal ? undefined : writer.readBack(name);
    if (!bytes) continue;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    policy.resetCounts();
    const clean = policy.knownOnly(text, /^(?:sources|maps)\//.test(name));
    if (clean === text) continue;
    writer.replacePart(name, clean);
    writer.countRedactions(name, policy.counts());
  }
  policy.resetCounts();
}
