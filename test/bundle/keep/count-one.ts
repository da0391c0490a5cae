/** Notes one signature at a given time and prints the answer: the child processes of signature-log.test.ts. */
import { noteSignature } from '../../../src/bundle/keep/signature-log.ts';

const [, , dir = '', startAt = '0'] = process.argv;
while (Date.now() < Number(startAt));
process.stdout.write(JSON.stringify(noteSignature({ dir, signature: 'same', windowMs: 60_000 })));
