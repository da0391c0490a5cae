/**
 * Tells a signal that somebody sent to this process alone from one that went to its whole group (a terminal's key,
 * `kill -- -PGID`, a service manager that stops a whole cgroup), which the program has got already. Node does not say
 * who sent a signal; so a process that does nothing sits in our group, and dies of what the group gets.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';

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
    const diedOf = (await causeOnItsWay(witness, name)) ?? (await causeOfDeath(witness));
    // Two questions at once have one witness.
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
 * The signal, where the witness has it and did not run since then: on a busy machine it may not have. SIGKILL would
 * overtake one that leaves a core. While it runs it may just be taking it. Source: proc(5), the status file.
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

/** A signal that came before ours stays the cause; so there is nothing to wait for but the end. */
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
