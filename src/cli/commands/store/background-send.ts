/**
 * Has another process send what a dump folder holds to AGENTDUMP_STORE, and tell AGENTDUMP_OTLP and AGENTDUMP_SENTRY of it, so that
 * nobody waits for them: `run`, `ci`, `sweep` and
 * `capture` start it when they have written bundles. What is not sent stays, and `status` says so.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platform } from '../../../platform/index.ts';

/** Of the machine or the container: an index in a folder takes 350 MB while it is open. */
const leastMemoryBytes = 512 * 1024 ** 2;

const destinations = ['AGENTDUMP_STORE', 'AGENTDUMP_OTLP', 'AGENTDUMP_SENTRY'];

export interface BackgroundSend {
  /** New bundles are there: a sender starts, or looks once more when it has ended. */
  send(): void;
  /** Until all is sent, or that much time has gone by; the sending goes on then. */
  wait(ms: number): Promise<void>;
}

/** Undefined where neither a store nor a receiver is set. */
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
      // The timer also keeps this process, which does not wait for the sender itself.
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

/** In a session of its own: what ends the command does not end it. */
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
