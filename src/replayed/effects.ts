/**
 * Reports what the replayed program does outside of the network, which a replay repeats: changes of files, child processes,
 * and tools of MCP servers on standard streams. With `hold`, the first effect of a held kind ends the replay before it
 * happens. Seen are the functions of node:fs, node:fs/promises and node:child_process, in every process and thread that loads
 * this preload; not what addons, WASI or children do that are not Node.
 */
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { watchMcpTools } from './mcp-tools.ts';
import { isPartOfFolderCall, placeOfCaller } from './place-of-caller.ts';
import type { EffectKind, EffectWishes, SeenEffect } from './plan.ts';

/** Where each function that changes files has the path that it changes. */
const pathArguments: Record<string, number> = {
  appendFile: 0,
  chmod: 0,
  chown: 0,
  copyFile: 1,
  cp: 1,
  createWriteStream: 0,
  lchmod: 0,
  lchown: 0,
  link: 1,
  lutimes: 0,
  mkdir: 0,
  mkdtemp: 0,
  open: 0,
  rename: 1,
  rm: 0,
  rmdir: 0,
  symlink: 1,
  truncate: 0,
  unlink: 0,
  utimes: 0,
  writeFile: 0,
};

type AnyFunction = (...args: unknown[]) => unknown;
type Functions = Record<string, unknown>;

/** Enough for every kind of effect of a program; the file stays below a megabyte. */
const mostReported = 5_000;
/** SIGKILL: the program must not run anything in between. */
const kill = 9;

export function watchEffects(wishes: EffectWishes): void {
  const reporter = new EffectReporter(wishes);
  const { files } = reporter;
  wrapAll(fs as unknown as Functions, files);
  wrapAll(fs.promises as unknown as Functions, files);
  watchChildren(reporter);
}

class EffectReporter {
  readonly #wishes: EffectWishes;
  /** The originals, because reports must not be reported. */
  readonly #append = fs.appendFileSync;
  readonly #read = fs.readFileSync;
  /** Streams open their files in a later turn of the loop, where their caller is not on the stack any more. */
  readonly #opening: string[] = [];
  #reported = 0;

  constructor(wishes: EffectWishes) {
    this.#wishes = wishes;
  }

  /** Returns if the effect may take place. */
  report(kind: EffectKind, action: string, name: string): void {
    const place = placeOfCaller();
    // The recorder's own files, which it also writes without a replay.
    if (place === 'recorder') return;
    const isHeld = this.#wishes.hold.includes(kind);
    if (!isHeld && this.#reported++ >= mostReported) return;
    const effect: SeenEffect = { kind, action, name, ...(place && { place }), ...(isHeld && { isHeld }) };
    try {
      this.#append(this.#wishes.file, `${JSON.stringify(effect)}\n`);
    } catch {
      // The replay has ended, and its folder was removed.
    }
    if (isHeld) this.#end();
  }

  /** A report for each call that changes a file. */
  readonly files = (name: string, args: unknown[]): void => {
    const action = name.replace(/Sync$/, '');
    if (action === 'open' && !isForWriting(args[1])) return;
    const path = pathOf(args[pathArguments[action] ?? 0]);
    if (path === undefined || this.#isOfReplay(path) || isPartOfFolderCall()) return;
    if (action === 'createWriteStream') this.#opening.push(path);
    else if (action === 'open' && this.#isOpenedByStream(path)) return;
    this.report('files', action, path);
  };

  #isOpenedByStream(path: string): boolean {
    const at = this.#opening.indexOf(path);
    if (at < 0 || placeOfCaller() !== undefined) return false;
    this.#opening.splice(at, 1);
    return true;
  }

  /** Devices such as /dev/null keep nothing. */
  #isOfReplay(path: string): boolean {
    return path.startsWith('/dev/') || path.startsWith(this.#wishes.folder + sep);
  }

  /** The program, which may be a parent of this process, and this process. */
  #end(): void {
    try {
      process.kill(Number(this.#read(this.#wishes.pidFile, 'utf8')), kill);
    } catch {
      // It has already ended, or is this process.
    }
    process.kill(process.pid, kill);
  }
}

/** Calls of one function by another one, such as `open` by `writeFile`, are reported once. */
let isWithin = false;

function wrapAll(functions: Functions, report: (name: string, args: unknown[]) => void): void {
  for (const action of Object.keys(pathArguments))
    for (const name of [action, `${action}Sync`]) wrap(functions, name, (args) => report(name, args));
}

/** A Proxy, so that name, length and what `util.promisify` looks for stay the same. */
function wrap(functions: Functions, name: string, report: (args: unknown[]) => void): void {
  const original = functions[name];
  if (typeof original !== 'function') return;
  functions[name] = new Proxy(original as AnyFunction, {
    apply(target, self, args: unknown[]) {
      if (isWithin) return Reflect.apply(target, self, args);
      isWithin = true;
      try {
        report(args);
        return Reflect.apply(target, self, args);
      } finally {
        isWithin = false;
      }
    },
  });
}

function isForWriting(flags: unknown): boolean {
  const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND } = fs.constants;
  if (typeof flags === 'number') return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)) !== 0;
  return typeof flags === 'string' && /[wa+]/.test(flags);
}

/** Undefined for a descriptor, whose opening was reported. */
function pathOf(path: unknown): string | undefined {
  if (typeof path === 'string') return path;
  if (path instanceof URL) return path.protocol === 'file:' ? fileURLToPath(path) : path.href;
  return path instanceof Uint8Array ? Buffer.from(path).toString() : undefined;
}

function watchChildren(reporter: EffectReporter): void {
  const { prototype } = childProcess.ChildProcess as unknown as { prototype: { spawn: AnyFunction } };
  const { spawn } = prototype;
  prototype.spawn = function (this: childProcess.ChildProcess, ...args: unknown[]) {
    const { file, args: words } = args[0] as { file?: unknown; args?: unknown };
    reporter.report('commands', 'spawn', commandOf(file, Array.isArray(words) ? words.slice(1) : []));
    const result = spawn.apply(this, args);
    watchMcpTools(this, (tool) => reporter.report('mcp', 'tools/call', tool));
    return result;
  };
  for (const name of ['spawnSync', 'execFileSync', 'execSync'])
    wrap(childProcess as unknown as Functions, name, ([file, words]) =>
      reporter.report('commands', name, commandOf(file, Array.isArray(words) ? words : [])),
    );
}

function commandOf(file: unknown, words: readonly unknown[]): string {
  return [file, ...words].map(String).join(' ').slice(0, 300);
}
