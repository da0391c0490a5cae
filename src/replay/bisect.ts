/**
 * Finds the commit that introduced a death: `git bisect` in a separate work tree, with a replay as the test. The user's work
 * tree is not touched. A commit at which the program makes different requests than in the recording, or can't be started, is
 * skipped.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { AgentdumpError } from '../errors.ts';
import type { Recording } from './recorded/recording.ts';
import { type ReplayOptions, type ReplayResult, replay } from './replay.ts';
import { isFixed } from './result.ts';

export interface BisectOptions {
  recording: Recording;
  command: readonly string[];
  good: string;
  bad: string;
  onMismatch: ReplayOptions['onMismatch'];
  live: readonly string[];
  note(text: string): void;
}

export interface BisectResult {
  /** The first bad commit; undefined if too many had to be skipped. */
  commit?: { hash: string; subject: string; author: string; date: string };
  tried: { hash: string; subject: string; verdict: 'good' | 'bad' | 'skip'; outcome: string }[];
}

/** Throws `usage` for invalid revisions, and if the recording does not distinguish them. */
export async function bisect(options: BisectOptions): Promise<BisectResult> {
  const top = git(process.cwd(), ['rev-parse', '--show-toplevel']);
  // Resolved now, because HEAD will be different in the new work tree.
  const resolve = (revision: string) => git(top, ['rev-parse', '--verify', `${revision}^{commit}`]);
  const ends = { good: resolve(options.good), bad: resolve(options.bad) };
  const below = relative(top, process.cwd());
  const parent = mkdtempSync(join(tmpdir(), 'agentdump-bisect-'));
  const tree = join(parent, 'tree');
  try {
    git(top, ['worktree', 'add', '--detach', '--quiet', tree, ends.bad]);
    lendModules(top, tree, below);
    return await new Bisection({ ...options, ...ends }, tree, join(tree, below)).run();
  } finally {
    spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: top });
    rmSync(parent, { recursive: true, force: true });
  }
}

class Bisection {
  readonly #options: BisectOptions;
  readonly #tree: string;
  readonly #cwd: string;
  readonly #tried: BisectResult['tried'] = [];

  constructor(options: BisectOptions, tree: string, cwd: string) {
    this.#options = options;
    this.#tree = tree;
    this.#cwd = cwd;
  }

  async run(): Promise<BisectResult> {
    const { good, bad } = this.#options;
    await this.#require(bad, 'bad');
    await this.#require(good, 'good');
    git(this.#tree, ['bisect', 'start', '--no-checkout', bad, good]);
    try {
      return await this.#search();
    } finally {
      spawnSync('git', ['bisect', 'reset'], { cwd: this.#tree });
    }
  }

  /** git records the commit to try in BISECT_HEAD, and prints when it has found the first bad one. */
  async #search(): Promise<BisectResult> {
    for (;;) {
      const verdict = await this.#try(git(this.#tree, ['rev-parse', 'BISECT_HEAD']));
      const { stdout, status } = runGit(this.#tree, ['bisect', verdict]);
      const found = /^([0-9a-f]{40,64}) is the first bad commit/m.exec(stdout)?.[1];
      if (found) return { commit: this.#describe(found), tried: this.#tried };
      if (status !== 0 || /only 'skip'ped commits left/.test(stdout)) return { tried: this.#tried };
    }
  }

  async #require(revision: string, wanted: 'good' | 'bad'): Promise<void> {
    const verdict = await this.#try(revision);
    if (verdict === wanted) return;
    const { outcome } = this.#tried.at(-1) ?? { outcome: '' };
    const found = wanted === 'bad' ? 'does not die the recorded death' : 'is not free of the recorded death';
    throw new AgentdumpError('usage', `${revision}, said to be ${wanted}, ${found} (${outcome})`, {
      argument: wanted,
    });
  }

  async #try(hash: string): Promise<'good' | 'bad' | 'skip'> {
    git(this.#tree, ['checkout', '--quiet', '--force', '--detach', hash]);
    const { recording, command, onMismatch, live, note } = this.#options;
    const result = await replay({
      recording,
      command,
      onMismatch,
      live,
      note: () => {},
      cwd: this.#cwd,
      isQuiet: true,
    });
    const verdict = verdictOf(result);
    const { subject } = this.#describe(hash);
    note(`${hash.slice(0, 10)} ${verdict.padEnd(4)} (${result.outcome}) ${subject}`);
    this.#tried.push({ hash, subject, verdict, outcome: result.outcome });
    return verdict;
  }

  #describe(hash: string): NonNullable<BisectResult['commit']> {
    const text = git(this.#tree, ['show', '--no-patch', '--format=%s%x00%an%x00%aI', hash]);
    const [subject = '', author = '', date = ''] = text.split('\0');
    return { hash, subject, author, date };
  }
}

function verdictOf(result: ReplayResult): 'good' | 'bad' | 'skip' {
  if (result.outcome === 'same') return 'bad';
  return isFixed(result) ? 'good' : 'skip';
}

/** Dependencies are not in git. The ones of the user's tree are linked, unless they are already present. */
function lendModules(top: string, tree: string, below: string): void {
  const folders = new Set(['', ...below.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'))]);
  for (const folder of folders) {
    const [from, to] = [join(top, folder, 'node_modules'), join(tree, folder, 'node_modules')];
    if (existsSync(from) && !existsSync(to) && existsSync(join(tree, folder))) symlinkSync(from, to);
  }
}

/** Output of git without the last line break. Throws `usage` with git's own message. */
function git(cwd: string, words: string[]): string {
  const { status, stdout, stderr, error } = runGit(cwd, words);
  if (status === 0) return stdout.trimEnd();
  const reason = error?.message ?? (stderr.trim() || stdout.trim());
  throw new AgentdumpError('usage', `git ${words[0]} failed: ${reason}`, { argument: 'git', reason });
}

function runGit(cwd: string, words: string[]): SpawnSyncReturns<string> {
  return spawnSync('git', words, { cwd, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
}
