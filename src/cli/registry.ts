/**
 * The table of commands. A command's file is imported only when that command runs, so the others cost nothing at
 * start; the one-line descriptions here are all that `--help` needs.
 */
import type { CommandModule } from 'yargs';

export interface CommandEntry {
  name: string;
  describe: string;
  /** The module's default export is the whole command: arguments, one call, one rendering. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has words of its own, which only yargs joins
  load(): Promise<{ default: CommandModule<object, any> }>;
  /**
   * For a command whose start must cost next to nothing: it reads its words itself. yargs is not loaded, unless it asks
   * for that.
   */
  loadLean?(): Promise<{ runWords(words: string[], withYargs: () => Promise<void>): Promise<void> }>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'analyze',
    describe: 'The account of the death: what happened, the proof, and what to do next',
    load: () => import('./commands/analyze.ts'),
  },
  {
    name: 'core',
    describe: 'The account of a core file: both worlds of every stack, in plain JavaScript',
    load: () => import('./commands/core.ts'),
  },
  {
    name: 'agent',
    describe: 'What the agent was doing: runs, steps, model and tool calls, conversation',
    load: () => import('./commands/agent.ts'),
  },
  {
    name: 'replay',
    describe: 'Run the program again with its recorded model replies: does it die the same death?',
    load: () => import('./commands/replay.ts'),
  },
  {
    name: 'bisect',
    describe: 'Find the commit that brought the death, by replaying it',
    load: () => import('./commands/bisect.ts'),
  },
  {
    name: 'list',
    describe: 'The bundles here, newest first',
    load: () => import('./commands/list.ts'),
  },
  {
    name: 'heap',
    describe: 'Summary, classes, suspects, retainers, diff, query of a heap snapshot',
    load: () => import('./commands/heap.ts'),
    loadLean: () => import('./commands/heap-start.ts'),
  },
  {
    name: 'diff',
    describe: 'What differs between two bundles, or from a baseline',
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'prune',
    describe: 'Remove bundles beyond a number or a size, the least worth first',
    load: () => import('./commands/prune.ts'),
  },
  {
    name: 'pack',
    describe: 'Make one file of a bundle, to send or to keep',
    load: () => import('./commands/pack.ts'),
  },
  {
    name: 'unpack',
    describe: 'Make a folder of a packed bundle',
    load: () => import('./commands/unpack.ts'),
  },
  {
    name: 'verify',
    describe: 'Whether every part of a bundle is as it was written',
    load: () => import('./commands/verify.ts'),
  },
  {
    name: 'encrypt',
    describe: 'Make one age file of a bundle, which only its recipient can read',
    load: () => import('./commands/encrypt.ts'),
  },
  {
    name: 'decrypt',
    describe: 'Make a packed bundle of an encrypted one',
    load: () => import('./commands/decrypt.ts'),
  },
  {
    name: 'mcp',
    describe: 'The same facts as tools for a coding assistant, over stdio',
    load: () => import('./commands/mcp.ts'),
  },
  {
    name: 'run',
    describe: 'Run a program under a supervisor that explains its death and can start it again',
    load: () => import('./commands/run.ts'),
    loadLean: () => import('./commands/run.ts'),
  },
  {
    name: 'ci',
    describe:
      'Run a test command; where it fails, hangs or is cancelled, a report names the test and the cause',
    load: () => import('./commands/ci.ts'),
    loadLean: () => import('./commands/ci.ts'),
  },
  {
    name: 'capture',
    describe: 'A bundle of a running Node process, with nothing preloaded; it goes on',
    load: () => import('./commands/capture.ts'),
  },
  {
    name: 'doctor',
    describe: 'Die in every way on this machine, and show what survives',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'sweep',
    describe: 'Turn the traces of programs that died without a word into bundles',
    load: () => import('./commands/sweep.ts'),
  },
  {
    name: 'status',
    describe: 'What runs here, how often it was started again, and the last deaths',
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'runs',
    describe: 'The durable runs here, where each stands and what it waits for',
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'resume',
    describe: 'Go on with a durable run, under a supervisor; its own command line, or the one after --',
    load: () => import('./commands/resume.ts'),
  },
  {
    name: 'rollback',
    describe: 'Take a durable run back to a checkpoint or to before a step',
    load: () => import('./commands/rollback.ts'),
  },
  {
    name: 'approve',
    describe: 'Answer yes to a durable run that waits for an approval',
    load: () => import('./commands/approve.ts'),
  },
  {
    name: 'reject',
    describe: 'Answer no to a durable run that waits for an approval',
    load: () => import('./commands/reject.ts'),
  },
];
