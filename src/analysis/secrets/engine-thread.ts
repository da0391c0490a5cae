/** Runs the engine on a separate thread: answers each text with its findings. Started by bounded-engine.ts. */
import { parentPort } from 'node:worker_threads';
import { loadEngine } from './engine.ts';

export interface Question {
  text: string;
  part: string;
}

const port = parentPort;
if (!port) throw new Error('not on a thread');
const engine = await loadEngine();
port.on('message', ({ text, part }: Question) => {
  engine.find(text, part).then(
    (suspects) => port.postMessage({ suspects }),
    (error: unknown) => port.postMessage({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
// The first search compiles all rules.
await engine.find('', 'warm-up');
port.postMessage({ name: engine.name, independent: engine.independent });
