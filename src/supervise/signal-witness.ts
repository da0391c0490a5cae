/**
 * Tells a signal that somebody sent to this process alone from one that went to its whole group (a terminal's key,
 * `kill -- -PGID`, a service manager that stops a whole cgroup), which the program has got already. Node does not say
 * who sent a signal; so a process that does nothing sits in our group, and dies of what the group gets.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** What the group gets reaches all of it within one system call of the sender. */
const spreadMs = 10;
/** Whoever is asked and can't answer. */
const answerMs = 1000;
/** Without the limit, SIGQUIT would have it leave a core. The pipe ends it when we are gone, whatever killed us. */
const idleProcess = ['/bin/sh', '-c', 'ulimit -c 0; exec cat'] as const;

export class SignalWitness {
  #process: ChildProcess | undefined;
  #isClosed = false;

  constructor() {
    this.#start();
  }

  /**
   * Whether the group got this signal, which has just reached us. Undefined where there is no witness (no shell, no
   * room for a process). Only for signals that end a process that does not handle them.
   */
  async sawToo(name: NodeJS.Signals): Promise<boolean | undefined> {
    await new Promise((done) => setTimeout(done, spreadMs));
    const witness = this.#process;
    if (!witness) return undefined;
    const diedOf = await causeOfDeath(witness);
    // Two questions at once have one witness.
    if (this.#process === witness) this.#start();
    return diedOf === undefined ? undefined : diedOf === name;
  }

  close(): void {
    this.#isClosed = true;
    this.#process?.kill('SIGKILL');
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

/** A signal that came before ours stays the cause; so there is nothing to wait for but the end. */
async function causeOfDeath(witness: ChildProcess): Promise<NodeJS.Signals | undefined> {
  if (witness.signalCode !== null) return witness.signalCode;
  if (witness.exitCode !== null) return undefined;
  witness.kill('SIGKILL');
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, answerMs, undefined);
    witness.once('exit', (_, signal) => {
      clearTimeout(timer);
      resolve(signal ?? undefined);
    });
  });
}
