// Opens a session and a journal as the preload does, tells its folder, and lives until it is killed (or ends well when
// told so). Arguments: the dump folder, `end` to end by itself, and `warn` to
// tell something of the program, as one without a recipient does.
import { recordKinds } from '../../../dist/journal/layout/records.js';
import { describeSession, endSession } from '../../../dist/journal/write/session.js';
import { sessionFolder, writeSession } from '../../../dist/journal/write/session-file.js';
import { openJournal } from '../../../dist/journal/write/writer.js';

const [dir, how] = process.argv.slice(2);
const id = process.pid.toString(16).padStart(16, '0');
const folder = sessionFolder(dir, id);
const facts = describeSession({
  id,
  program: 'victim',
  command: ['node', 'victim'],
  cwd: process.cwd(),
  heartbeatMs: 1000,
});
writeSession(folder, facts);
const journal = openJournal({ dir: folder, sessionId: id, maxBytes: 100_000, segmentBytes: 10_000 });
journal.append(recordKinds.processFacts, JSON.stringify({ argv: ['told', 'by', 'itself'] }));
for (let i = 1; i <= 3000; i++)
  journal.append(
    recordKinds.memorySample,
    JSON.stringify({ rss: i * 1e6, heapUsed: i * 1e5, nonsense: 'x' }),
  );
if (how === 'warn') journal.append(recordKinds.warning, JSON.stringify({ message: 'of the program' }));
if (how === 'end') {
  journal.close(true, { exitCode: 0 });
  endSession(folder, facts, { exitCode: 0 });
} else setInterval(() => {}, 1000);
process.stdout.write(`${folder}\n`);
