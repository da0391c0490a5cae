/** A thread for examiner.test.ts that does what the name of the file says. */
import { parentPort, threadId } from 'node:worker_threads';
import type { Question } from '../../../src/store/service/examine-upload.ts';
import type { ThreadAnswer } from '../../../src/store/service/examiner.ts';

const port = parentPort;
const answer = (isSpent: boolean): ThreadAnswer => ({ examined: { refused: String(threadId) }, isSpent });
port?.on('message', ({ name }: Question) => {
  if (name === 'exit') process.exit(0);
  if (name === 'fail') port.postMessage({ failure: 'no reason' } satisfies ThreadAnswer);
  if (name === 'answer') port.postMessage(answer(false));
  if (name === 'spent') port.postMessage(answer(true));
  if (name === 'throw afterwards') {
    port.postMessage(answer(false));
    setImmediate(() => {
      throw new Error('too late');
    });
  }
});
