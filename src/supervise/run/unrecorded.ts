/**
 * Finds Node processes below a command that were started without the recorder. NODE_OPTIONS is dropped by a package script
 * that sets its own, by `env -i`, and by programs that start their children with other variables. Such a process can't report
 * itself, so the check reads the command line and environment that the kernel shows of each process. Processes that live
 * shorter than the time between two checks may be missed; where the kernel shows no processes, all are.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { platform } from '../../platform/index.ts';

const firstLookMs = 60;
const longestPauseMs = 2_000;
const nodeName = /^node(?:js)?(?:-?\d[\d.]*)?$/;
const recorder = /agentdump[/\\]register\b|[/\\]register(?:-tests)?\.cjs\b/;
const ownCommand = /(?:^|[/\\])agentdump(?:\.js)?$/;
const largest = 2 * 1024 * 1024;

export class UnrecordedWatch {
  readonly #rootPid: number;
  readonly #onFirst: (name: string) => void;
  /** Process id to the hash of the environment that was checked. */
  readonly #judged = new Map<number, string>();
  #names: string[] = [];
  #pauseMs = firstLookMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(rootPid: number, onFirst: (name: string) => void = () => {}) {
    this.#rootPid = rootPid;
    this.#onFirst = onFirst;
    if (platform.hasProcessFiles) this.#wait();
  }

  /** Script names, in the order of discovery. */
  get names(): readonly string[] {
    return this.#names;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.look();
      this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
      this.#wait();
    }, this.#pauseMs).unref();
  }

  look(): void {
    this.#lookBelow(this.#rootPid);
  }

  #lookBelow(pid: number): void {
    this.#judge(pid);
    for (const thread of platform.processFolder(pid, 'task'))
      for (const child of (platform.processFile(pid, `task/${thread}/children`) ?? '').split(' '))
        if (child !== '') this.#lookBelow(Number(child));
  }

  /**
   * A process may exec another program: a shell its last command, and a child of Node, which shows its parent's command line
   * and environment between fork and exec. So it is checked again if its environment changes. The command line is not
   * compared, because the program can change it (process.title).
   */
  #judge(pid: number): void {
    if (!nodeName.test(basename(platform.processLink(pid, 'exe') ?? ''))) return;
    const words = platform.processFile(pid, 'cmdline', largest)?.split('\0').slice(0, -1) ?? [];
    const environ = platform.processFile(pid, 'environ', largest);
    // Neither is available for a process that has ended, and the environment of another user's process can't be read.
    if (environ === undefined || words.length === 0) return;
    const hash = hashOf(environ);
    if (this.#judged.get(pid) === hash) return;
    this.#judged.set(pid, hash);
    const variables = environ.split('\0');
    const options = variables.find((each) => each.startsWith('NODE_OPTIONS=')) ?? '';
    const isOff = variables.some((each) => /^AGENTDUMP=(?:off|0|false|no)$/i.test(each));
    if (isOff || words.some((word) => ownCommand.test(word))) return;
    if (recorder.test(options) || words.some((word) => recorder.test(word))) return;
    this.#names.push(nameOf(words));
    if (this.#names.length === 1) this.#onFirst(nameOf(words));
  }
}

/** Short, because entries of ended processes are kept. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 16);
}

/** Arguments may be secret, so only the script's name is used. */
function nameOf(words: readonly string[]): string {
  const script = words.slice(1).find((word) => !word.startsWith('-'));
  const isFile = script !== undefined && /^[^\s;(){}'"]+$/.test(script);
  return isFile ? `node ${basename(script)}` : 'node';
}

/** One line with what to do about it. */
export function adviceOnUnrecorded(names: readonly string[]): string {
  const [first = 'node'] = names;
  const who =
    names.length === 1
      ? `a Node process ran without the recorder (${first})`
      : `${names.length} Node processes ran without the recorder (the first: ${first})`;
  return `${who}: NODE_OPTIONS was replaced or dropped; keep what it holds, NODE_OPTIONS="$NODE_OPTIONS …", or start Node with --require agentdump/register`;
}
