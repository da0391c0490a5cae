/** Appends until the limit on file sizes stops it, then smaller records, and prints what was acknowledged. */
import { openJournal } from '../../src/journal/write/writer.ts';

process.on('SIGXFSZ', () => {});
const acknowledged: number[] = [];
const errors: string[] = [];
const journal = openJournal({ dir: process.argv[2]!, sessionId: 's' });
for (const size of [3000, 3000, 3000, 200, 100]) {
  try {
    acknowledged.push(journal.append(45, 'z'.repeat(size)));
  } catch (error) {
    errors.push((error as { code: string }).code);
  }
}
process.stdout.write(JSON.stringify({ acknowledged, errors }));
