/**
 * Finds Node processes below a command that the recorder never came to: NODE_OPTIONS is dropped by a package script that
 * sets its own, by `env -i`, by a program that starts its children with other variables. Looked for from outside, in what
 * the kernel shows of each process as it was started, since who was never loaded can say nothing. A process that lives
 * shorter than the time between two looks may be missed; where the kernel shows no processes, all are.
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
  /** The hash of the variables with which each was judged. */
  readonly #judged = new Map<number, string>();
  #names: string[] = [];
  #pauseMs = firstLookMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(rootPid: number, onFirst: (name: string) => void = () => {}) {
    this.#rootPid = rootPid;
    this.#onFirst = onFirst;
    if (platform.hasProcessFiles) this.#wait();
  }

  /** By their script, in the order of their discovery. */
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
   * A process may become another one: a shell that starts its last command, and whatever a Node starts, which between fork and exec
   * shows words and variables of its parent. So it is judged again when it shows other variables. Its words it may change itself
   * (process.title).
   */
  #judge(pid: number): void {
    if (!nodeName.test(basename(platform.processLink(pid, 'exe') ?? ''))) return;
    const words = platform.processFile(pid, 'cmdline', largest)?.split('\0').slice(0, -1) ?? [];
    const environ = platform.processFile(pid, 'environ', largest);
    // One that has ended shows neither; that of another user can't be read.
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

/** Short, because those that have ended are remembered too. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 16);
}

/** Words of a command may be secret: its script's name alone. */
function nameOf(words: readonly string[]): string {
  const script = words.slice(1).find((word) => !word.startsWith('-'));
  const isFile = script !== undefined && /^[^\s;(){}'"]+$/.test(script);
  return isFile ? `node ${basename(script)}` : 'node';
}

/** What to do, in one line. */
export function adviceOnUnrecorded(names: readonly string[]): string {
  const [first = 'node'] = names;
  const who =
    names.length === 1
      ? `a Node process ran without the recorder (${first})`
      : `${names.length} Node processes ran without the recorder (the first: ${first})`;
  return `${who}: NODE_OPTIONS was replaced or dropped; keep what it holds, NODE_OPTIONS="$NODE_OPTIONS …", or start Node with --require agentdump/register`;
}
