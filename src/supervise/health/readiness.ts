/**
 * Announces whether the program is healthy: through a readiness file, and through sd_notify messages if a service manager has
 * set NOTIFY_SOCKET. Never throws: the program runs even if its health can't be announced.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { platform } from '../../platform/index.ts';
import type { ServiceNotifier } from './sd-notify.ts';

export interface Readiness {
  ready(pid: number): void;
  unready(because: string): void;
  /** It is unhealthy and left running, so a service manager may have to act. */
  unhealthy(because: string): void;
  /** The program was asked to end. */
  stopping(): void;
  close(): void;
}

export interface ReadinessOptions {
  readyFile?: string;
  announce: boolean;
  notifies: boolean;
  note(text: string): void;
}

const silent: Readiness = { ready() {}, unready() {}, unhealthy() {}, stopping() {}, close() {} };

export function startReadiness(options: ReadinessOptions): Readiness {
  return options.announce ? new Announcer(options) : silent;
}

class Announcer implements Readiness {
  readonly #file: string | undefined;
  #notifier: Promise<ServiceNotifier | undefined> | undefined;
  #restarts = 0;

  constructor({ readyFile, notifies, note }: ReadinessOptions) {
    this.#file = readyFile;
    this.#removeFile();
    if (notifies)
      this.#notifier = import('./sd-notify.ts').then(({ openNotifier }) => openNotifier(process.env, note));
  }

  ready(pid: number): void {
    const again = this.#restarts > 0 ? `, restarted ${this.#restarts} times` : '';
    this.#tell([`READY=1`, `STATUS=process ${pid} is healthy${again}`]);
    if (this.#file === undefined) return;
    try {
      writeFileSync(`${this.#file}.${process.pid}`, `${pid}\n`);
      platform.files.rename(`${this.#file}.${process.pid}`, this.#file);
    } catch {
      // See above.
    }
  }

  unready(because: string): void {
    this.#restarts++;
    this.#removeFile();
    this.#tell([`STATUS=ended: ${because}`]);
  }

  unhealthy(because: string): void {
    this.#removeFile();
    this.#tell([`STATUS=unhealthy: ${because}`]);
    void this.#notifier?.then((notifier) => notifier?.fallSilent());
  }

  stopping(): void {
    this.#removeFile();
    this.#tell(['STOPPING=1']);
  }

  close(): void {
    this.#removeFile();
    void this.#notifier?.then((notifier) => notifier?.close());
  }

  #tell(lines: string[]): void {
    void this.#notifier?.then((notifier) => notifier?.send(lines));
  }

  #removeFile(): void {
    try {
      if (this.#file !== undefined) rmSync(this.#file, { force: true });
    } catch {
      // See above.
    }
  }
}
