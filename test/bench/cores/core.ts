/**
 * Core analysis against its peers in one run: time and memory of the whole account, frames that agree with gdb and eu-stack,
 * JavaScript frames that agree with V8's own stack text, the size of a mini core, and the pause of a live process. `npm run
 * bench:core [seeds]`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { accountForCore } from '../../../src/analysis/core/core-account.ts';
import { openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { writeMiniCore } from '../../../src/analysis/core/mini/mini-core.ts';
import { walkNativeStack } from '../../../src/analysis/core/native/native-stack.ts';
import { type LiveCore, writeLiveCore } from '../../../src/supervise/native/live-core.ts';
import { makeCore, noCores, nodes, victims } from '../../support/cores/core-victims.ts';
import { parseTruth } from '../../support/cores/frame-truth.ts';
import { readGdbStacks } from '../../support/cores/gdb-stacks.ts';

if (noCores) {
  console.log(`skipped: ${noCores}`);
  process.exit(0);
}
const seeds = Number(process.argv[2] ?? 3);
const rounds = 3;
const generated = '/generated/frames.js';
const has = (tool: string) => spawnSync(tool, ['--version']).status === 0;
const ms = (value: number) => `${value.toFixed(0)} ms`;

async function median(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}

/** Allocated blocks of the file, in MB. */
const onDisk = (path: string) => `${(statSync(path).blocks / 2048).toFixed(0)} MB`;

async function measureAccount(): Promise<void> {
  console.log('\nTo the whole account (median of 3; heap walked; gdb and eu-stack give native stacks only)');
  for (const node of nodes) {
    const death = makeCore(node.path, [
      '--max-old-space-size=60',
      join(victims, 'deaths.cjs'),
      'out-of-memory',
    ]);
    const mini = join(dirname(death.core), 'mini.gz');
    const whole = await median(() => accountForCore(death.core));
    const stacks = await median(() => accountForCore(death.core, { heap: false }));
    const made = await writeMiniCore(death.core, mini);
    const small = await median(() => accountForCore(mini));
    const gdb = has('gdb')
      ? await median(() =>
          spawnSync('gdb', [
            '-nx',
            '-batch',
            '-iex',
            'set debuginfod enabled off',
            '-ex',
            'thread apply all bt',
            node.path,
            death.core,
          ]),
        )
      : Number.NaN;
    console.log(
      `Node ${node.major}: core of ${onDisk(death.core)} ${ms(whole)}, without heap ${ms(stacks)}, gdb ${ms(gdb)} (ours/gdb ${(stacks / gdb).toFixed(2)}); mini core ${(made.bytes / 1024).toFixed(0)} KB ${ms(small)}; peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`,
    );
    death.remove();
  }
}

const deaths = [
  ...['read-null', 'write-null', 'write-read-only', 'illegal', 'divide', 'non-canonical', 'wild-jump'],
  ...['privileged', 'abort', 'out-of-memory', 'uncaught'],
];

/** Frames are equal if their program counters are. */
function measureNative(): void {
  if (!has('eu-stack')) return;
  let same = 0;
  let all = 0;
  let threads = 0;
  let more = 0;
  let named = 0;
  let sameNamed = 0;
  for (const node of nodes)
    for (const kind of deaths) {
      const flags = kind === 'uncaught' ? ['--abort-on-uncaught-exception'] : ['--max-old-space-size=40'];
      const death = makeCore(node.path, [...flags, join(victims, 'deaths.cjs'), kind]);
      const { stdout } = spawnSync('eu-stack', ['-n', '400', '-r', '--core', death.core, '-e', node.path], {
        encoding: 'utf8',
        maxBuffer: 1 << 26,
      });
      const dump = openCoreDump(death.core);
      const gdb = has('gdb') ? readGdbStacks(node.path, death.core) : new Map<number, string[]>();
      const blocks = stdout.split(/^TID (\d+):$/m).slice(1);
      for (let i = 0; i < blocks.length; i += 2) {
        const theirs = [...(blocks[i + 1] ?? '').matchAll(/^#\d+\s+0x0*([0-9a-f]+)/gm)].map((m) => m[1]);
        const thread = dump.core.threads.find((t) => t.tid === Number(blocks[i]));
        const ours = thread
          ? walkNativeStack(dump.machine.registersOf(thread), dump).frames.map((f) =>
              f.programCounter.toString(16),
            )
          : [];
        const theirNamed = gdb.get(Number(blocks[i])) ?? [];
        named += theirNamed.length;
        sameNamed += theirNamed.filter((pc, row) => pc === ours[row]).length;
        threads++;
        all += theirs.length;
        same += inOrder(theirs, ours);
        more += Math.max(0, ours.length - theirs.length);
      }
      dump.close();
      death.remove();
    }
  console.log(
    `\nNative frames of eu-stack that are ours too: ${same} of ${all}, in ${threads} threads; ${more} that it misses; frames that gdb names, at the same place in ours: ${sameNamed} of ${named}`,
  );
}

/** How many of `theirs` occur in `ours`, in the same order. */
function inOrder(theirs: (string | undefined)[], ours: string[]): number {
  let at = 0;
  return theirs.filter((pc) => {
    const found = pc === undefined ? -1 : ours.indexOf(pc, at);
    if (found >= 0) at = found + 1;
    return found >= 0;
  }).length;
}

async function measureJavaScript(): Promise<void> {
  let right = 0;
  let wrong = 0;
  let unsure = 0;
  const tiers = new Map<string, number>();
  for (const node of nodes)
    for (const warm of [0, 2000, 20_000])
      for (let seed = 1; seed <= seeds; seed++) {
        const death = makeCore(node.path, [join(victims, 'frames.cjs'), `${seed}`, '45', `${warm}`]);
        const truth = parseTruth(death.stdout).filter((p) => p.file === generated);
        const account = await accountForCore(death.core, { heap: false });
        const mine = (account.threads?.[0]?.frames ?? []).filter((f) => f.file === generated);
        truth.forEach((place, i) => {
          const frame = mine[i];
          if (frame && frame.line === undefined) unsure++;
          else if (frame?.line === place.line && frame.column === place.column) right++;
          else wrong++;
          tiers.set(frame?.tier ?? 'missing', (tiers.get(frame?.tier ?? 'missing') ?? 0) + 1);
        });
        death.remove();
      }
  const counted = [...tiers].map(([tier, count]) => `${tier} ${count}`).join(', ');
  console.log(
    `\nJavaScript frames against Error.stack: ${right} right, ${wrong} wrong, ${unsure} that say they don't know (${counted})`,
  );
}

async function measureLive(): Promise<void> {
  const node = nodes.at(-1);
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-bench-'));
  const script = join(folder, 'live.cjs');
  writeFileSync(
    script,
    'global.kept = Array.from({ length: 190 }, (_, i) => Buffer.alloc(1 << 20, i + 1)); console.log("ready"); setInterval(() => {}, 1000);',
  );
  const child = spawn(node?.path ?? '', [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const pauses: number[] = [];
  let last: LiveCore | undefined;
  for (let i = 0; i < rounds + 1; i++) {
    const path = `${script}.core`;
    last = writeLiveCore(child.pid ?? 0, path);
    if (i > 0) pauses.push(last.pauseMs);
    rmSync(path);
  }
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
  console.log(
    `\nLive core of ${((last?.bytes ?? 0) / 2 ** 20).toFixed(0)} MB: paused ${ms(pauses.sort((a, b) => a - b)[rounds >> 1] ?? 0)}, took ${ms(last?.tookMs ?? 0)}`,
  );
}

await measureAccount();
measureNative();
await measureJavaScript();
await measureLive();
