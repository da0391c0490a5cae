/**
 * The heap snapshot of another process, streamed out through its inspector, redacted and compressed as it comes: no
 * clear text is ever whole in memory or on the disk. The program stands still meanwhile, and needs memory for it.
 */
import { gzipSync } from 'node:zlib';
import { createSnapshotRedactor } from '../redaction/snapshot-redactor.ts';
import type { RemoteDebugger } from './remote-debugger.ts';
import type { Scrubber } from './scrubber.ts';

/** One gzip member a batch: members may be concatenated (RFC 1952). */
const batchBytes = 1024 * 1024;
const longestMs = 300_000;
const largestBytes = 2 * 1024 ** 3;

/** Gzipped. Rejects when the program does not answer, or answers with what is no snapshot. */
export async function readLiveHeap(remote: RemoteDebugger, scrubber: Scrubber): Promise<Uint8Array[]> {
  const redactor = createSnapshotRedactor({ strings: 'names', policy: scrubber });
  const members: Uint8Array[] = [];
  let batch: Buffer[] = [];
  let batched = 0;
  let total = 0;
  let failure: unknown;
  const add = (clean: Buffer, isLast: boolean) => {
    batch.push(clean);
    batched += clean.length;
    if (batched < batchBytes && !isLast) return;
    members.push(gzipSync(Buffer.concat(batch), { level: 1 }));
    total += members.at(-1)?.length ?? 0;
    if (total > largestBytes) throw new RangeError(`the snapshot has more than ${largestBytes} bytes`);
    batch = [];
    batched = 0;
  };
  remote.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
    if (failure !== undefined) return;
    try {
      add(Buffer.from(redactor.write(Buffer.from(String(chunk)))), false);
    } catch (error) {
      failure = error;
    }
  });
  await remote.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false }, longestMs);
  if (failure !== undefined) throw failure;
  add(redactor.end(), true);
  return members;
}
