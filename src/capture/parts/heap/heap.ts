/**
 * `heap.heapsnapshot.gz`: V8's snapshot, redacted and compressed as a stream, in chunks of 64 KB; the clear text is never
 * whole in memory and never on disk. Only taken if the tier decides that it fits.
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import { createSnapshotRedactor } from '../../../redaction/snapshot/redactor.ts';
import { CanaryWatch, UnprovenRedaction, withheldWhole } from '../../fatal-path/canary.ts';
import { decideHeapTier, isNotMissed } from '../../heap/tier.ts';
import { currentPolicy } from '../../install/policy.ts';
import type { CaptureContext, PartProducer } from '../part.ts';

/** The snapshot was compared with what a death may cost, or the user requested it whatever it costs. */
const heapLimitMs = 3_600_000;
/** One gzip member per batch: members may be concatenated (RFC 1952), and zlib has no synchronous stream. */
const batchBytes = 1024 * 1024;

export const heapPart: PartProducer = {
  name: partNames.heapSnapshot,
  limitMs: () => heapLimitMs,
  produce(context): undefined {
    const { wanted, taken, reason } = decideHeapTier(context.config, context.trigger);
    if (taken === 'snapshot') writeSnapshot(context);
    else if (wanted !== 'off' && !isNotMissed(reason))
      context.addGap(partNames.heapSnapshot, `${reason}; ${tierBelow(context, taken)}`);
  },
};

/** Where else the bundle describes the heap. */
function tierBelow({ heapProfile }: CaptureContext, taken: string): string {
  const said = [
    ...(heapProfile ? [`who allocated what is still alive is in ${partNames.heapProfile}`] : []),
    ...(taken === 'census' ? [`its objects by class are in ${partNames.heapCensus}`] : []),
    ...(taken === 'sample' ? [`a sample of its objects by class is in ${partNames.heapCensus}`] : []),
  ];
  return [...said, `its statistics are in ${partNames.memory}`].join(', ');
}

interface SnapshotStream {
  push(chunk: Buffer | null): boolean;
  _read(): void;
  destroy(): void;
}

function writeSnapshot(context: CaptureContext): void {
  const v8 = process.getBuiltinModule('node:v8');
  const { gzipSync } = process.getBuiltinModule('node:zlib');
  const redactor = createSnapshotRedactor({ strings: context.config.heapStrings, policy: currentPolicy() });
  const watch = new CanaryWatch();
  const part = context.openPart(partNames.heapSnapshot);
  let batch: Buffer[] = [];
  let batched = 0;
  const add = (clean: Buffer, isLast: boolean): void => {
    batch.push(clean);
    batched += clean.length;
    if (batched < batchBytes && !isLast) return;
    const bytes = Buffer.concat(batch);
    watch.comesOut(bytes);
    part.write(gzipSync(bytes, { level: 1 }));
    batch = [];
    batched = 0;
  };
  const stream = v8.getHeapSnapshot() as unknown as SnapshotStream;
  let failed: { error: unknown } | undefined;
  stream.push = (chunk) => {
    // V8 would serialize a second time if the stream read again after its end.
    if (!chunk) stream._read = () => {};
    else if (!failed)
      try {
        watch.goesIn(chunk);
        add(redactor.write(chunk), false);
      } catch (error) {
        // V8 continues with its next chunk. If this were thrown here, Node would report it as an error in an async hook, and
        // exit.
        failed = { error };
      }
    return true;
  };
  try {
    stream._read();
    if (failed) throw failed.error;
    add(redactor.end(), true);
    watch.end();
    part.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    part.abandon(error instanceof UnprovenRedaction ? withheldWhole(reason) : reason);
  } finally {
    stream.destroy();
  }
}
