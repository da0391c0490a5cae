/** Answers each question with what the upload is. Started by examiner.ts. */
import { parentPort } from 'node:worker_threads';
import { startBoundedEngine } from '../../analysis/secrets/bounded-engine.ts';
import { examineUpload, type Question } from './examine-upload.ts';

const port = parentPort;
if (!port) throw new Error('not on a thread');
const engine = await startBoundedEngine();
port.on('message', (question: Question) => {
  examineUpload(question, engine).then(
    (examined) => port.postMessage(examined),
    (error: unknown) => port.postMessage({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
