/**
 * Protects the search engine against untrusted text: it runs on a separate thread with limited memory, which is terminated
 * and restarted if a text takes too long. After a few such texts it isn't used any more.
 */
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../formats/heapsnapshot/thread.ts';
import type { SecretEngine, Suspect } from './engine.ts';

export interface BoundedEngine extends SecretEngine {
  /** A text took too long: the engine was restarted, and after a few of them isn't used any more. */
  readonly hasLost: boolean;
  close(): Promise<void>;
}

interface Answer {
  name?: string;
  independent?: boolean;
  suspects?: Suspect[];
  failure?: string;
}

const module = 'analysis/secrets/engine-thread';
const startLimitMs = 20_000;
const memoryMb = 256;
/** For a text of 1 MB, which usually takes a hundredth of this. */
const textLimitMs = 1000;
const mostLost = 2;

export async function startBoundedEngine(limitMs = textLimitMs): Promise<BoundedEngine> {
  let { worker, hello } = await start();
  let lost = 0;
  const find = async (text: string, part: string): Promise<Suspect[]> => {
    if (lost > mostLost) throw new Error('it was not searched: earlier texts took too long');
    try {
      worker.postMessage({ text, part });
      const { suspects, failure } = await answerOf(worker, limitMs);
      if (failure !== undefined) throw new Error(failure);
      return suspects ?? [];
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      lost++;
      await worker.terminate();
      if (lost <= mostLost) ({ worker } = await start());
      throw error;
    }
  };
  const { name = '', independent = false } = hello;
  const close = async (): Promise<void> => void (await worker.terminate());
  return {
    name,
    independent,
    find,
    close,
    get hasLost() {
      return lost > 0;
    },
  };
}

async function start(): Promise<{ worker: Worker; hello: Answer }> {
  const worker = startThread(module, {}, { maxOldGenerationSizeMb: memoryMb });
  return { worker, hello: await answerOf(worker, startLimitMs) };
}

/** The thread can't be used any more. */
class Lost extends Error {}

function answerOf(worker: Worker, limitMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // Listeners are removed one by one: after removing all of them, a Worker would receive no more messages.
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      finish();
    };
    const fail = (reason: string): void => settle(() => reject(new Lost(reason)));
    const onMessage = (answer: Answer): void => settle(() => resolve(answer));
    const onError = (error: Error): void => fail(`its search failed: ${error.message}`);
    const onExit = (): void => fail('its search ended without an answer');
    const timer = setTimeout(
      () => fail(`its search took longer than ${limitMs} ms and was given up`),
      limitMs,
    );
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
