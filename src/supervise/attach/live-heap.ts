/**
 * The heap snapshot of another process, streamed out through its inspector, redacted and compressed as it comes: no
 * clear text is ever whole in memory or on the disk. The program stands still meanwhile, and needs memory for it.
 */
import { gzipSync } from 'node:zlib';
import { CanaryWatch, canary, canaryName } from '../../capture/fatal-path/canary.ts';
import { createSnapshotRedactor } from '../../redaction/snapshot/redactor.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { RemoteDebugger } from './remote-debugger.ts';

/** One gzip member a batch: members may be concatenated (RFC 1952). */
const batchBytes = 1024 * 1024;
const longestMs = 300_000;
const largestBytes = 2 * 1024 ** 3;

/** The canary is put onto the program's heap in two halves, which are no canary, and taken off again. */
const canaryGroup = 'agentdump-canary';
function planting(): string {
  const halves = JSON.stringify([canary().slice(0, 12), canary().slice(12)]);
  return `({ ${canaryName}: ${halves}.join('') })`;
}

/**
 * Gzipped. Rejects when the program does not answer, answers with what is no snapshot, or a secret planted in it does not
 * come out withheld.
 */
export async function readLiveHeap(remote: RemoteDebugger, scrubber: Scrubber): Promise<Uint8Array[]> {
  const redactor = createSnapshotRedactor({ strings: 'names', policy: scrubber });
  const members: Uint8Array[] = [];
  let batch: Buffer[] = [];
  let batched = 0;
  let total = 0;
  let failure: unknown;
  const watch = new CanaryWatch();
  const add = (clean: Buffer, isLast: boolean) => {
    batch.push(clean);
    batched += clean.length;
    if (batched < batchBytes && !isLast) return;
    const whole = Buffer.concat(batch);
    watch.comesOut(whole);
    members.push(gzipSync(whole, { level: 1 }));
    total += members.at(-1)?.length ?? 0;
    if (total > largestBytes) throw new RangeError(`the snapshot has more than ${largestBytes} bytes`);
    batch = [];
    batched = 0;
  };
  remote.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
    if (failure !== undefined) return;
    try {
      const raw = Buffer.from(String(chunk));
      watch.goesIn(raw);
      add(Buffer.from(redactor.write(raw)), false);
    } catch (error) {
      failure = error;
    }
  });
  await remote.send('Runtime.evaluate', { expression: planting(), objectGroup: canaryGroup });
  try {
    await remote.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false }, longestMs);
  } finally {
    await remote.send('Runtime.releaseObjectGroup', { objectGroup: canaryGroup }).catch(() => {});
  }
  if (failure !== undefined) throw failure;
  add(redactor.end(), true);
  watch.end();
  return members;
}
