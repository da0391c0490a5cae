// Appends for ever and acknowledges each record's number on standard output, until somebody kills it.
// Arguments: the journal's folder, `bounded` or `unbounded`.
import { writeSync } from 'node:fs';
import { openJournal } from '../../dist/journal/write/writer.js';

const [dir, mode] = process.argv.slice(2);
const maxBytes = mode === 'bounded' ? 300_000 : Infinity;
const journal = openJournal({ dir, sessionId: 'victim', maxBytes, segmentBytes: 40_000 });
const number = Buffer.alloc(4);
for (let i = 0; ; i++) {
  // Every size from nothing to more than the writer's buffer; every third record waits in the buffer for the next.
  const size = i % 97 === 96 ? 70_000 : (i * 37) % 700;
  const payload = `${i}:${'#'.repeat(size)}`;
  if (i % 3 === 1) {
    journal.appendBuffered(45, payload);
    continue;
  }
  number.writeUInt32LE(journal.append(45, payload));
  writeSync(1, number);
}
