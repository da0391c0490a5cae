/** Answers each question with what the upload is. Started by examiner.ts. */
import { parentPort } from 'node:worker_threads';
import { startBoundedEngine } from '../../analysis/secrets/bounded-engine.ts';
import { examineUpload, type Question } from './examine-upload.ts';
import type { ThreadAnswer } from './examiner.ts';

/** For a text of 1 MB: longer than for a command that somebody waits for, because a service may be under load. */
const textLimitMs = 10_000;

const port = parentPort;
if (!port) throw new Error('not on a thread');
const engine = await startBoundedEngine(textLimitMs);
const tell = (answer: ThreadAnswer): void => port.postMessage(answer);
port.on('message', (question: Question) => {
  examineUpload(question, engine).then(
    (examined) => tell({ examined, isSpent: engine.hasLost }),
    (error: unknown) => tell({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
