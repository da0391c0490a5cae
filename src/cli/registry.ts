/**
 * The table of commands. A command's file is imported only when that command runs, so the others cost nothing at start;
 * `--help` only needs the one-line descriptions here.
 */
import type { CommandModule } from 'yargs';
import type { CommandName } from './examples.ts';

export interface CommandEntry {
  name: string;
  describe: string;
  /** The module's default export is the whole command: arguments, one call, one rendering. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has words of its own, which only yargs joins
  load(): Promise<{ default: CommandModule<object, any> }>;
  /**
   * For a command that must start as fast as possible: it parses its arguments itself. yargs is only loaded if the command
   * asks for it.
   */
  loadLean?(): Promise<{ runWords(words: string[], withYargs: () => Promise<void>): Promise<void> }>;
  /** Its help, without the examples, if yargs doesn't know its options. */
  ownHelp?(): Promise<string>;
}

/** Each has examples. */
export const commands: readonly (CommandEntry & { name: CommandName })[] = [
  {
    name: 'analyze',
    describe: 'Analyze a bundle: what killed the process, the evidence, and what to do next',
    load: () => import('./commands/analyze.ts'),
  },
  {
    name: 'core',
    describe: 'Analyze a core file: JavaScript and native frames of every stack',
    load: () => import('./commands/core.ts'),
  },
  {
    name: 'agent',
    describe: 'Show what the agent was doing: runs, steps, model and tool calls, conversation',
    load: () => import('./commands/agent.ts'),
  },
  {
    name: 'replay',
    describe: 'Rerun the program with its recorded model replies, and check whether it dies the same way',
    load: () => import('./commands/replay.ts'),
  },
  {
    name: 'bisect',
    describe: 'Find the commit that introduced a crash, by replaying it',
    load: () => import('./commands/bisect.ts'),
  },
  {
    name: 'list',
    describe: 'List the bundles, newest first',
    load: () => import('./commands/bundles/list.ts'),
  },
  {
    name: 'open',
    describe: 'Explore bundles, heap snapshots and cores in the browser, on a local page',
    load: () => import('./commands/open.ts'),
  },
  {
    name: 'heap',
    describe:
      'Analyze a heap snapshot or a core’s heap: summary, classes, leak suspects, retainers, diff, query',
    load: () => import('./commands/heap/heap.ts'),
    loadLean: () => import('./commands/heap/start.ts'),
  },
  {
    name: 'diff',
    describe: 'Compare two bundles, or a bundle with a baseline',
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'prune',
    describe: 'Delete bundles beyond a count or size limit, the least useful first',
    load: () => import('./commands/bundles/prune.ts'),
  },
  {
    name: 'pack',
    describe: 'Pack a bundle into one file',
    load: () => import('./commands/bundles/pack.ts'),
  },
  {
    name: 'unpack',
    describe: 'Unpack a packed bundle into a folder',
    load: () => import('./commands/bundles/unpack.ts'),
  },
  {
    name: 'verify',
    describe: 'Check the integrity of a bundle, and search it for secrets',
    load: () => import('./commands/bundles/verify.ts'),
  },
  {
    name: 'encrypt',
    describe: 'Encrypt a bundle into one age file for a recipient or passphrase',
    load: () => import('./commands/bundles/encrypt.ts'),
  },
  {
    name: 'decrypt',
    describe: 'Decrypt an encrypted bundle into a packed one',
    load: () => import('./commands/bundles/decrypt.ts'),
  },
  {
    name: 'send',
    describe: 'Send sealed bundles to a store',
    load: () => import('./commands/store/send.ts'),
  },
  {
    name: 'serve',
    describe: 'Serve a store over HTTP to senders and readers with tokens',
    load: () => import('./commands/store/serve.ts'),
  },
  {
    name: 'issues',
    describe: 'List the faults that the bundles of a store show, and say what is resolved or ignored',
    load: () => import('./commands/store/issues.ts'),
  },
  {
    name: 'mcp',
    describe: 'Start an MCP server on stdio that gives coding assistants access to the bundles',
    load: () => import('./commands/mcp.ts'),
  },
  {
    name: 'run',
    describe: 'Run a program under a supervisor that writes a bundle when it dies and can restart it',
    load: () => import('./commands/run.ts'),
    loadLean: () => import('./commands/run.ts'),
    ownHelp: async () => (await import('./options/run-words.ts')).runHelp,
  },
  {
    name: 'ci',
    describe:
      'Run a test command; where it fails, hangs or is cancelled, a report names the test and the cause',
    load: () => import('./commands/ci.ts'),
    loadLean: () => import('./commands/ci.ts'),
    ownHelp: async () => (await import('./commands/ci.ts')).ciHelp,
  },
  {
    name: 'capture',
    describe: 'Write a bundle of a running Node process, which continues; no preload needed',
    load: () => import('./commands/capture.ts'),
  },
  {
    name: 'doctor',
    describe: 'Test on this machine which kinds of death leave a bundle, and with what in it',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'sweep',
    describe: 'Write bundles for processes that died without one (SIGKILL, out of memory, power loss)',
    load: () => import('./commands/bundles/sweep.ts'),
  },
  {
    name: 'status',
    describe: 'Show supervised programs, their restarts and their last deaths',
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'runs',
    describe: 'List durable runs with their state and what they wait for, or show what one has done',
    load: () => import('./commands/runs/runs.ts'),
  },
  {
    name: 'resume',
    describe: 'Resume a durable run under a supervisor, with its own command line or the one after --',
    load: () => import('./commands/runs/resume.ts'),
  },
  {
    name: 'rollback',
    describe: 'Roll a durable run back to a checkpoint, or to the point before a step or a question',
    load: () => import('./commands/runs/rollback.ts'),
  },
  {
    name: 'approve',
    describe: 'Approve a request that a durable run waits for',
    load: () => import('./commands/runs/approve.ts'),
  },
  {
    name: 'reject',
    describe: 'Reject a request that a durable run waits for',
    load: () => import('./commands/runs/reject.ts'),
  },
  {
    name: 'enqueue',
    describe: 'Queue a durable run for the workers of its program',
    load: () => import('./commands/runs/enqueue.ts'),
  },
  {
    name: 'signal',
    describe: 'Send a signal to a durable run',
    load: () => import('./commands/runs/signal.ts'),
  },
  {
    name: 'cancel',
    describe: 'Cancel a durable run; it can not be resumed',
    load: () => import('./commands/runs/cancel.ts'),
  },
];
