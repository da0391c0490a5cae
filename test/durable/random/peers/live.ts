/**
 * One life of a process that performs random programs, until it is killed or all of them have ended. Arguments: the engine, its
 * database, and the files of the programs and of what really happens.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { runTree, type Tree, type World } from '../random-programs.ts';
import { engines } from './engines.ts';
import type { Happening } from './judge.ts';

const [name = '', url = '', programs = '', happenings = ''] = process.argv.slice(2);
const trees: Tree[] = JSON.parse(readFileSync(programs, 'utf8'));
const note = (happening: Happening) => appendFileSync(happenings, `${JSON.stringify(happening)}\n`);

class NotedEffects extends Map<string, number> {
  readonly #program: string;

  constructor(program: string) {
    super();
    this.#program = program;
  }

  override set(effect: string, times: number): this {
    note({ program: this.#program, effect });
    return super.set(effect, times);
  }
}

/** A sleep may have begun in an earlier life, so how long this one waits says nothing. */
class LongAgo extends Map<string, number> {
  override get(): number {
    return 0;
  }
}

class NotedFaults extends Array<string> {
  program = '';

  override push(...lines: string[]): number {
    for (const astray of lines) note({ program: this.program, astray });
    return super.push(...lines);
  }
}

const engine = await engines[name]!(url, (program, line) => {
  if (line.includes('is in doubt')) note({ program, doubt: line });
});

function newWorld(program: string): World {
  const astray = new NotedFaults();
  astray.program = program;
  return {
    agent: engine.calls,
    random: Math.random,
    life: 0,
    mail: new Set(),
    naps: new LongAgo(),
    tries: new Map(),
    done: new Map(),
    effects: new NotedEffects(program),
    children: new Map(),
    inQueue: new Map(),
    astray,
    wouldApprove: () => true,
  };
}

const ids = trees.map((_, index) => String(index));
console.log('at work');
const ends = engine.perform(ids, (id) => runTree(trees[Number(id)]!, newWorld(id), '', ''));
await Promise.all(
  ends.map((end, index) =>
    end.then(
      (result) => note({ program: String(index), ended: result }),
      (error) => note({ program: String(index), failed: `${error?.message ?? error}`.split('\n')[0] ?? '' }),
    ),
  ),
);
console.log('all have ended');
process.exit();
