/**
 * Starts another process that sends the bundles of a dump folder to AGENTDUMP_STORE, and reports them to AGENTDUMP_OTLP and
 * AGENTDUMP_SENTRY, so that nothing waits for it. Used by `run`, `ci`, `sweep` and `capture` when they have written bundles.
 * What could not be sent remains, and is shown by `status`.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platform } from '../../../platform/index.ts';

/** Available memory of the machine or the container: an index in a folder takes 350 MB while it is open. */
const leastMemoryBytes = 512 * 1024 ** 2;

const destinations = ['AGENTDUMP_STORE', 'AGENTDUMP_OTLP', 'AGENTDUMP_SENTRY'];

export interface BackgroundSend {
  /** There are new bundles: starts a sender, or another one after the current one has ended. */
  send(): void;
  /** Resolves when everything is sent, or after this time; sending continues then. */
  wait(ms: number): Promise<void>;
}

/** Undefined if neither a store nor a receiver is configured. */
export function backgroundSend(dir: string, environment: NodeJS.ProcessEnv): BackgroundSend | undefined {
  if (!destinations.some((name) => environment[name])) return undefined;
  let ended: Promise<void> | undefined;
  let isAskedAgain = false;
  const start = (): void => {
    isAskedAgain = false;
    if (availableBytes() < leastMemoryBytes) return;
    ended = runSender(dir, environment).then(() => {
      ended = undefined;
      if (isAskedAgain) start();
    });
  };
  return {
    send() {
      if (ended) isAskedAgain = true;
      else start();
    },
    async wait(ms) {
      // The timer also keeps this process alive, because the sender itself is unreferenced.
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, ms, 'late');
      });
      while (ended) if ((await Promise.race([ended, late])) === 'late') break;
      clearTimeout(timer);
    },
  };
}

const availableBytes = (): number => process.availableMemory?.() ?? platform.availableBytes();

/** In a session of its own, so that what ends the command does not end it. */
function runSender(dir: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const { NODE_OPTIONS: _, ...env } = environment;
  const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..', 'bin', 'agentdump.js');
  return new Promise((resolve) => {
    const words = [bin, 'send', '--all', '--background', '--dir', dir];
    const child = spawn(process.execPath, words, { detached: true, stdio: 'ignore', env });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
    child.unref();
  });
}
