/**
 * Answers one question about a heap snapshot, given parsed arguments: computes one document and passes it to one renderer.
 */
import { AgentdumpError } from '../../../errors.ts';
import type { HeapDocument } from '../../../model/heap.ts';
import { formatNumber } from '../../../model/quantities.ts';
import { harmlessJson } from '../../../report/json.ts';
import { exitCodes } from '../../exit-codes.ts';
import { dumpFolder } from '../../options/dump-folder.ts';
import { note, print, writeNew } from '../../output/output.ts';
import { processOf, watch } from './process-input.ts';
import { type HeapWords, questions, readWords } from './questions.ts';

export interface HeapArguments {
  words?: (string | number)[];
  json: boolean;
  limit?: number;
  baseline?: string;
  watch?: string;
  every?: number;
  sort?: string;
  format?: string;
  out?: string;
  html?: string;
  threads?: number;
  dir?: string;
  exe?: string;
  thread?: number;
  /** The file is a core: called by `agentdump core`. */
  isCore?: boolean;
}

/** Growth at each of two steps is a leak; growth at one may be a cache that fills. */
const looks = 3;
const secondsBetween = 60;
/** A timer takes 31 bits of milliseconds, and with more than that it would not wait at all. */
const mostSeconds = Math.floor((2 ** 31 - 1) / 1000);

export async function answerHeap(argv: HeapArguments): Promise<void> {
  const words = readWords([...(argv.words ?? []).map(String), ...watched(argv)]);
  if (argv.html !== undefined) return pageOf(argv, words);
  if (words.question === 'export' && wantsSnapshot(argv)) return exportSnapshot(argv, words);
  const { document, text } = await questions[words.question]!.answer(optionsOf(argv, words));
  const output = argv.json ? `${harmlessJson(JSON.stringify(document, null, 2))}\n` : await text();
  if (argv.out === undefined) print(output);
  else writeNew(argv.out, output);
  if ((document as HeapDocument).gaps?.length) process.exitCode = exitCodes.explainedWithGaps;
}

/** The process as the source of each look. */
function watched({ words, watch, every }: HeapArguments): string[] {
  if (watch === undefined) {
    if (every === undefined) return [];
    throw new AgentdumpError('usage', '--every is the time between the looks of --watch PID', {
      argument: '--every',
    });
  }
  if (every !== undefined && !(every > 0 && every <= mostSeconds))
    throw new AgentdumpError(
      'usage',
      `--every takes a number of seconds above 0, up to ${formatNumber(mostSeconds)}`,
      { argument: '--every' },
    );
  if (words?.length !== 1 || (words[0] !== 'suspects' && words[0] !== 'diff'))
    throw new AgentdumpError('usage', '--watch is for suspects and diff, without a file', {
      argument: '--watch',
    });
  if (processOf(watch) !== undefined) return new Array<string>(looks).fill(watch);
  throw new AgentdumpError('usage', `--watch takes the id of a living process, and ${watch} is none`, {
    argument: '--watch',
  });
}

const wantsSnapshot = ({ format, out }: HeapArguments): boolean =>
  format === 'heapsnapshot' || (format === undefined && out !== undefined && out.endsWith('.heapsnapshot'));

async function exportSnapshot(argv: HeapArguments, words: HeapWords): Promise<void> {
  const { out } = argv;
  if (out === undefined)
    throw new AgentdumpError('usage', 'a heap snapshot is written to a file: --out is missing', {
      argument: '--out',
    });
  const { exportHeap } = await import('./input.ts');
  const { sources, dir, executable, thread, isCore } = optionsOf(argv, words);
  const gaps = await exportHeap(sources[0] ?? '', out, dir, { executable, thread, isCore });
  for (const { part, reason } of gaps) note(`${part}: ${reason}`);
  if (gaps.length) process.exitCode = exitCodes.explainedWithGaps;
}

async function pageOf(argv: HeapArguments, words: HeapWords): Promise<void> {
  if (words.question !== 'summary')
    throw new AgentdumpError('usage', '--html takes no question: the page shows the heap as a whole', {
      argument: '--html',
    });
  const [{ heapAccount }, { writePage }] = await Promise.all([
    import('./page.ts'),
    import('../../output/page.ts'),
  ]);
  const { sources, dir, threads, executable, thread } = optionsOf(argv, words);
  const account = await heapAccount(sources[0]!, dir, threads, { executable, thread });
  writePage(account, argv.html!);
  if (account.gaps.length) process.exitCode = exitCodes.explainedWithGaps;
}

function threadOf({ thread }: HeapArguments): number | undefined {
  if (thread === undefined || (Number.isInteger(thread) && thread > 0)) return thread;
  throw new AgentdumpError('usage', '--thread takes the id of a thread, as `agentdump core` prints it', {
    argument: '--thread',
  });
}

function optionsOf(argv: HeapArguments, words: HeapWords) {
  if (argv.limit !== undefined && !(argv.limit >= 1))
    throw new AgentdumpError('usage', '--limit takes a number of at least 1', { argument: '--limit' });
  const threads = argv.threads ?? 2;
  if (threads !== 1 && threads !== 2)
    throw new AgentdumpError('usage', '--threads takes 1 or 2', { argument: '--threads' });
  const { baseline } = argv;
  const isQuery = words.question === 'query';
  if (baseline !== undefined && !isQuery && words.question !== 'suspects')
    throw new AgentdumpError('usage', '--baseline is for suspects and query; diff takes both files', {
      argument: '--baseline',
    });
  return {
    watched: argv.watch === undefined ? undefined : watch(Number(argv.watch)),
    pauseMs: argv.watch === undefined ? 0 : 1000 * (argv.every ?? secondsBetween),
    sources: baseline === undefined || isQuery ? words.sources : [baseline, ...words.sources],
    baseline: isQuery ? baseline : undefined,
    rest: words.rest,
    limit: argv.limit === undefined ? undefined : Math.floor(argv.limit),
    sort: argv.sort,
    format: argv.format,
    threads,
    executable: argv.exe,
    thread: threadOf(argv),
    isCore: argv.isCore,
    dir: argv.dir ?? dumpFolder(),
  };
}
