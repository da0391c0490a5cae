/**
 * What one part withholds must not stand in another: a part that was written before the policy knew a value is searched for it
 * again. Not the memory of a core, which was redacted by a policy of its own; and not a journal, whose lines carry checksums: it
 * was redacted with the command line and the environment known. A heap of the process itself is written later.
 */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import type { Policy } from '../../redaction/policy.ts';
import { withheldWhole } from './canary.ts';

type Knowing = Pick<Policy, 'findings' | 'knownOnly' | 'counts' | 'resetCounts'>;

/** Never throws; a part that can't be searched is dropped. */
export function withholdFindings(
  writer: Pick<BundleWriter, 'partNames' | 'readBack' | 'replacePart' | 'countRedactions' | 'dropPart'>,
  policy: Knowing,
): void {
  if (policy.findings().length === 0) return;
  for (const name of writer.partNames) {
    if (name.endsWith('.gz') || name === partNames.journal) continue;
    try {
      withholdFrom(writer, name, policy);
    } catch {
      writer.dropPart(name, withheldWhole('it could not be searched for what other parts withhold'));
    }
  }
  policy.resetCounts();
}

function withholdFrom(
  writer: Pick<BundleWriter, 'readBack' | 'replacePart' | 'countRedactions'>,
  name: string,
  policy: Knowing,
): void {
  const bytes = writer.readBack(name);
  if (!bytes) return;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  policy.resetCounts();
  const clean = policy.knownOnly(text, /^(?:sources|maps)\//.test(name));
  if (clean === text) return;
  writer.replacePart(name, clean);
  writer.countRedactions(name, policy.counts());
}
