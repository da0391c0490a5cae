/**
 * A program that writes one bundle after the other until it is killed. The content of each part follows from its name, so
 * that the test that killed it can tell a whole part from a torn one. Arguments: the dump folder, and for encrypted bundles a
 * recipient.
 */
import { writeSync } from 'node:fs';
import { type Lock, readLock } from '../../../src/bundle/write/age-key.ts';
import { startBundle } from '../../../src/bundle/write/writer.ts';

export const partsOfEach = [
  'trigger.json',
  'error.json',
  'agent.json',
  'process.json',
  ...Array.from({ length: 12 }, (_, i) => `sources/${i}.js`),
  'report.json',
  'heap.heapsnapshot.gz',
];

export function contentOf(name: string): string {
  const length = name.length * name.charCodeAt(name.length - 4) * 7;
  return `${name}\n`.repeat(Math.ceil(length / (name.length + 1)));
}

/** Written as cut at a limit, with a gap that says so. */
export const incompletePart = 'report.json';

function writeOne(dir: string, lock: Lock | undefined): void {
  const writer = startBundle({
    dir,
    program: 'endless',
    verdictKind: 'snapshot',
    writer: '0.1.0',
    ...(lock && { lock }),
  });
  for (const name of partsOfEach.slice(0, -1))
    writer.writePart(name, contentOf(name), { complete: name !== incompletePart });
  writer.addGap({ part: incompletePart, reason: 'cut' });
  const heap = writer.openPart('heap.heapsnapshot.gz');
  const text = contentOf('heap.heapsnapshot.gz');
  for (let at = 0; at < text.length; at += 997) heap.write(text.slice(at, at + 997));
  heap.close();
  writer.seal();
}

const [, , dir, recipient] = process.argv;
if (dir && process.argv[1]?.includes('endless-writer')) {
  writeSync(1, 'ready');
  const lock = recipient ? readLock(recipient) : undefined;
  for (;;) writeOne(dir, lock);
}
