/**
 * Distinguishes a signal that was sent to this process alone from one that was sent to its whole group (a terminal key, `kill
 * -- -PGID`, a service manager that stops a whole cgroup), which the program has received already. Node does not report the
 * sender of a signal, so an idle process in our group serves as a witness: it dies of what the group receives.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';

/** A signal to the group reaches all members within one system call of the sender. */
const spreadMs = 10;
/** Time limit for the witness. */
const answerMs = 1000;
/** Without the limit it would dump core at SIGQUIT. It ends when our end of the pipe closes, even if we are killed. */
const idleProcess = ['/bin/sh', '-c', 'ulimit -c 0; exec cat'] as const;

export class SignalWitness {
  #process: ChildProcess | undefined;
  #isClosed = false;

  constructor() {
    this.#start();
  }

  /**
   * Whether the group received this signal, which has just reached us. Undefined if there is no witness (no shell, no process
   * could be started). Only for signals whose default action ends the process.
   */
  async sawToo(name: NodeJS.Signals): Promise<boolean | undefined> {
    await new Promise((done) => setTimeout(done, spreadMs));
    const witness = this.#process;
    if (!witness) return undefined;
    const diedOf = (await causeOnItsWay(witness, name)) ?? (await causeOfDeath(witness));
    // Two concurrent calls share a witness.
    if (this.#process === witness) this.#start();
    witness.kill(signals.kill);
    return diedOf === undefined ? undefined : diedOf === name;
  }

  close(): void {
    this.#isClosed = true;
    this.#process?.kill(signals.kill);
  }

  #start(): void {
    this.#process = undefined;
    if (this.#isClosed) return;
    const [shell, ...words] = idleProcess;
    const started = spawn(shell, words, { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
    started.on('error', () => {
      this.#process = undefined;
    });
    started.stdin.on('error', () => {});
    started.unref();
    (started.stdin as unknown as { unref(): void }).unref();
    this.#process = started;
  }
}

/**
 * Returns the signal if it is pending for the witness, which on a busy machine may not have run since. SIGKILL must not be
 * sent then, because it would overtake a signal that dumps core. While the witness is running it may be about to handle the
 * signal, so the check is repeated. Source: proc(5), the status file.
 */
async function causeOnItsWay(
  { pid }: ChildProcess,
  name: NodeJS.Signals,
): Promise<NodeJS.Signals | undefined> {
  for (const until = performance.now() + answerMs; performance.now() < until; ) {
    const status = platform.processFile(pid ?? 0, 'status') ?? '';
    const pending = BigInt(`0x${/^ShdPnd:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
    if (pending & (1n << BigInt(constants.signals[name] - 1))) return name;
    if (!/^State:\s+R/m.test(status)) return undefined;
    await new Promise((done) => setTimeout(done, 1));
  }
  return undefined;
}

/** A signal that arrived before our SIGKILL remains the cause of death, so only the end has to be awaited. */
async function causeOfDeath(witness: ChildProcess): Promise<NodeJS.Signals | undefined> {
  if (witness.signalCode !== null) return witness.signalCode;
  if (witness.exitCode !== null) return undefined;
  witness.kill(signals.kill);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, answerMs, undefined);
    witness.once('exit', (_, signal) => {
      clearTimeout(timer);
      resolve(signal ?? undefined);
    });
  });
}
