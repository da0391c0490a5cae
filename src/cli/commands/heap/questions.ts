/** The questions that `heap` answers: for each its arguments, and how its document is computed and rendered. */

import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { compareHeaps } from '../../../analysis/memory/growth/compare-heaps.ts';
import type { Growth } from '../../../analysis/memory/growth/growth.ts';
import type { FacetName } from '../../../analysis/memory/kernel/second-thread.ts';
import { type OtherSnapshot, otherSnapshot } from '../../../analysis/memory/query/change.ts';
import { parseQuery } from '../../../analysis/memory/query/parse.ts';
import {
  type Asked,
  allocationsDocument,
  classesDocument,
  dominatorsDocument,
  fillDocument,
  growthDocument,
  growthSuspectsDocument,
  pathDocument,
  pathsDocument,
  type QueryDocument,
  queryDocument,
  retainersDocument,
  stringsDocument,
  summaryDocument,
  suspectsDocument,
  valueDocument,
} from '../../../analysis/memory/questions/documents.ts';
import { computeFlame, type FlameFrame } from '../../../analysis/memory/questions/flame.ts';
import type { ClassOrder } from '../../../analysis/memory/questions/summary.ts';
import { AgentdumpError } from '../../../errors.ts';
import { type HeapDocument, heapSchema } from '../../../model/heap.ts';
import type { Gap } from '../../../model/verdict.ts';
import { renderCsv } from '../../../report/heap/csv.ts';
import { renderFolded, renderSpeedscope } from '../../../report/heap/flame.ts';
import { type HeapView, renderHeap } from '../../../report/heap/text.ts';
import { harmlessJson } from '../../../report/json.ts';
import { plainPalette } from '../../../report/palette.ts';
import type { Page } from '../../../report/text/layout.ts';
import { stdoutColumns, stdoutWantsColour } from '../../output/output.ts';
import { meantText } from '../../suggest.ts';
import { openHeapAt, type SourceOptions } from './input.ts';
import type { Watched } from './process-input.ts';
import { sourceKind } from './source-kind.ts';

export interface HeapWords {
  question: string;
  sources: string[];
  rest: string[];
}

export interface QuestionOptions {
  sources: string[];
  rest: string[];
  limit: number | undefined;
  /** query: another snapshot of the same process. */
  baseline?: string | undefined;
  sort: string | undefined;
  format: string | undefined;
  threads: number;
  dir: string;
  /** The executable of a core, if not the one that it names. */
  executable?: string | undefined;
  /** The thread of a core or process whose heap is read. */
  thread?: number | undefined;
  isCore?: boolean | undefined;
  /** The sources are looks at this living process, with this time between them. */
  watched?: Watched | undefined;
  pauseMs?: number | undefined;
}

export interface Answer {
  document: object;
  text(): string | Promise<string>;
}

interface Question {
  /** Its arguments, for --help. */
  words: string;
  about: string;
  /** A required argument after the file. */
  needs?: 'node' | 'text';
  answer(options: QuestionOptions): Promise<Answer>;
}

const page = async (): Promise<Page> => ({
  palette: stdoutWantsColour()
    ? (await import('../../output/terminal-palette.ts')).terminalPalette
    : plainPalette,
  columns: stdoutColumns(),
});

/** Two pages of a terminal. */
const mostPathLines = 40;

/** `node`: the first argument after the file; an address of a core's memory is converted to the id of the node there. */
async function ask(
  options: QuestionOptions & SourceOptions,
  make: (asked: Asked, node: string) => Answer,
): Promise<Answer> {
  const source = options.sources[0]!;
  const { heap, nodeAt, inMemory, gaps, compute, close } = await openHeapAt(
    source,
    options.dir,
    options.threads,
    options,
  );
  try {
    const node = nodeOfWord(options.rest[0] ?? '', nodeAt);
    return compute(() => make({ heap, source, gaps, inMemory }, node));
  } finally {
    close();
  }
}

function nodeOfWord(word: string, nodeAt: ((address: number) => number | undefined) | undefined): string {
  const address = /^@?(0x[0-9a-f]{1,13})$/i.exec(word)?.[1];
  if (address === undefined) return word;
  if (!nodeAt)
    throw new AgentdumpError('usage', `${word} is an address: only a core has those`, { argument: word });
  const node = nodeAt(Number(address));
  if (node !== undefined) return `@${node}`;
  throw new AgentdumpError('not-found', `no object that was alive lies at ${address}`, { name: word });
}

function shown<Document extends HeapDocument>(view: HeapView['view'], document: Document): Answer {
  return {
    document,
    text: async () => renderHeap({ ...document, view } as unknown as HeapView, await page()),
  };
}

export const questions: Readonly<Record<string, Question>> = {
  summary: {
    words: '<file|bundle|core|pid>',
    about: 'totals by kind, class, package and file (also without a question)',
    answer: (options) =>
      ask(options, (asked) => shown('summary', summaryDocument(asked, options.limit ?? 15))),
  },
  classes: {
    words: '<file|bundle|core|pid>',
    about: 'classes with their sizes; --sort retained, self, count or name',
    answer: (options) =>
      ask(options, (asked) =>
        shown('classes', classesDocument(asked, classOrder(options.sort), options.limit ?? 50)),
      ),
  },
  suspects: {
    words: '<file|bundle|core|pid> [b…]',
    about: 'likely leaks, with evidence; of several snapshots: what grew',
    answer: (options) =>
      options.sources.length > 1
        ? growingSuspects(options)
        : ask(options, (asked) => shown('suspects', suspectsDocument(asked, options.limit ?? 10))),
  },
  retainers: {
    words: '<file|bundle|core|pid> <node>',
    about: 'what references a node',
    needs: 'node',
    answer: (options) =>
      ask(options, (asked, node) => shown('retainers', retainersDocument(asked, node, options.limit ?? 50))),
  },
  dominators: {
    words: '<file|bundle|core|pid> [node]',
    about: 'the nodes that retain most memory, or those directly below one',
    answer: (options) =>
      ask(options, (asked, node) =>
        shown('nodes', dominatorsDocument(asked, node || undefined, options.limit ?? 50)),
      ),
  },
  path: {
    words: '<file|bundle|core|pid> <node>',
    about: 'the retaining path of a node, from the roots',
    needs: 'node',
    answer: (options) => ask(options, (asked, node) => shown('path', pathDocument(asked, node))),
  },
  paths: {
    words: '<file|bundle|core|pid> <class|query>',
    about: 'what holds many objects: their paths from the roots, merged',
    needs: 'text',
    answer: (options) =>
      ask(options, (asked) =>
        shown('paths', pathsDocument(asked, options.rest[0]!, options.limit ?? mostPathLines)),
      ),
  },
  strings: {
    words: '<file|bundle|core|pid>',
    about: 'duplicate strings, the memory they waste, and who holds them',
    answer: (options) =>
      ask(options, (asked) => shown('strings', stringsDocument(asked, options.limit ?? 50))),
  },
  fill: {
    words: '<file|bundle|core|pid>',
    about: 'how full Maps, Sets, arrays and dictionaries are, what free entries waste, and who holds them',
    answer: (options) => ask(options, (asked) => shown('fill', fillDocument(asked, options.limit ?? 20))),
  },
  show: {
    words: '<file|bundle|core|pid> <node>',
    about: 'the value of a node',
    needs: 'node',
    answer: showValue,
  },
  diff: {
    words: '<a> <b> [c…]',
    about: 'what grew between snapshots',
    answer: compare,
  },
  query: {
    words: '<file|bundle|core|pid> <query>',
    about: 'nodes by condition, groups, sums; --format table, json or csv',
    needs: 'text',
    answer: query,
  },
  allocations: {
    words: '<file|bundle>',
    about: 'who allocated what is alive: of a .heapprofile, a tracked snapshot or a bundle',
    answer: allocations,
  },
  export: {
    words: '<file|bundle|core|pid>',
    about:
      'flame graph: --format speedscope or folded; of a bundle, core or process also --out FILE.heapsnapshot',
    answer: exportFlame,
  },
};

/** Accepts `heap suspects FILE`, `heap FILE suspects` and `heap FILE`. */
export function readWords(words: string[]): HeapWords {
  const [first = '', second = ''] = words;
  const isQuestion = (word: string): boolean => Object.hasOwn(questions, word);
  if (isQuestion(first)) return checked(first, words.slice(1));
  if (isQuestion(second)) return checked(second, [first, ...words.slice(2)]);
  if (words.length > 1)
    throw new AgentdumpError(
      'usage',
      `${first} is no question: there are ${Object.keys(questions).join(', ')}${meantText(first, Object.keys(questions))}`,
      { argument: first },
    );
  // A sampled profile contains no objects, so it implies the one question that it can answer.
  const isProfile = first !== '' && sourceKind(first) === 'profile';
  return checked(isProfile ? 'allocations' : 'summary', words);
}

function checked(question: string, [source, ...rest]: string[]): HeapWords {
  const { words, needs } = questions[question]!;
  const usage = `agentdump heap ${question} ${words}`;
  if (source === undefined)
    throw new AgentdumpError('usage', `a heap snapshot, a core or a bundle is missing: ${usage}`, {
      argument: 'file',
    });
  if (question === 'suspects') return { question, sources: [source, ...rest], rest: [] };
  if (question === 'diff') {
    if (rest.length) return { question, sources: [source, ...rest], rest: [] };
    throw new AgentdumpError('usage', `a second snapshot is missing: ${usage}`, { argument: 'file' });
  }
  if (needs && !rest.length)
    throw new AgentdumpError('usage', `a ${needs === 'node' ? 'node id' : 'query'} is missing: ${usage}`, {
      argument: 'node',
    });
  if (needs === 'text') return { question, sources: [source], rest: [rest.join(' ')] };
  const most = needs || question === 'dominators' ? 1 : 0;
  if (rest.length > most)
    throw new AgentdumpError('usage', `${rest[most]} is one word too many: ${usage}`, {
      argument: rest[most],
    });
  return { question, sources: [source], rest };
}

function classOrder(sort: string | undefined): ClassOrder {
  const orders: ClassOrder[] = ['retained', 'self', 'count', 'name'];
  const order = orders.find((known) => known === (sort ?? 'retained'));
  if (order) return order;
  throw new AgentdumpError('usage', `--sort takes one of ${orders.join(', ')}`, { argument: '--sort' });
}

async function compare(options: QuestionOptions): Promise<Answer> {
  const limit = options.limit ?? 30;
  const { growth, gaps } = await readGrowth(options, Math.min(limit, 30));
  return shown('growth', growthDocument(options.sources, gaps, growth, limit));
}

async function growingSuspects(options: QuestionOptions): Promise<Answer> {
  const { growth, gaps } = await readGrowth(options, 30);
  return shown('suspects', growthSuspectsDocument(options.sources, gaps, growth, options.limit ?? 10));
}

async function readGrowth(options: QuestionOptions, limit: number): Promise<{ growth: Growth; gaps: Gap[] }> {
  const gaps: Gap[] = [];
  const growth = await compareHeaps({
    count: options.sources.length,
    limit,
    opensAgain: options.sources.every(isStored),
    async open(at, isAgain) {
      if (at > 0 && !isAgain) await setTimeout(options.pauseMs ?? 0);
      const opened = await openHeapAt(options.sources[at]!, options.dir, options.threads, {
        ...options,
        ...(at === 0 && !isAgain && { facets: digestFacets }),
      });
      gaps.push(...opened.gaps.filter(({ reason }) => !gaps.some((gap) => gap.reason === reason)));
      return opened;
    },
  });
  return { growth, gaps };
}

/** What the digest of the first one needs. */
const digestFacets: readonly FacetName[] = ['classes', 'ownerOfPart'];

/** Not a pipe or a process, which can be read only once. */
function isStored(source: string): boolean {
  const stat = statSync(source, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFile() || stat.isDirectory());
}

async function query(options: QuestionOptions): Promise<Answer> {
  const text = options.rest[0]!;
  // Reports an invalid query before a large file is read.
  parseQuery(text);
  const format = oneOf('--format', options.format ?? 'table', ['table', 'json', 'csv']);
  const other = options.baseline === undefined ? undefined : await readOther(options, options.baseline);
  return ask(options, (asked) => {
    const document = queryDocument(asked, text, options.limit ?? 100, other);
    if (format === 'json')
      return { document, text: () => `${harmlessJson(JSON.stringify(document, null, 2))}\n` };
    if (format === 'csv') return { document, text: () => csvOf(document) };
    return shown('nodes', document);
  });
}

/** Only its objects' ids stay in memory. */
async function readOther(options: QuestionOptions, source: string): Promise<OtherSnapshot> {
  const opened = await openHeapAt(source, options.dir, options.threads, options);
  const other = opened.compute(() => otherSnapshot(opened.heap));
  opened.close();
  return other;
}

const nameInJson: Record<string, string> = {
  self: 'selfSizeBytes',
  retained: 'retainedSizeBytes',
  dominator: 'dominatorId',
};
const allKeys = [
  'id',
  'name',
  'type',
  'class',
  'selfSizeBytes',
  'retainedSizeBytes',
  'distance',
  'dominatorId',
] as const;

async function showValue(options: QuestionOptions): Promise<Answer> {
  const limit = options.limit ?? 50;
  const inspected = { word: options.rest[0] ?? '', limit };
  return ask({ ...options, inspected }, (asked, node) => shown('value', valueDocument(asked, node, limit)));
}

function csvOf({ table, nodes }: QueryDocument): string {
  if (!table)
    return renderCsv(
      allKeys,
      nodes.map((row) => allKeys.map((key) => row[key])),
    );
  return renderCsv(
    table.columns.map(({ name }) => nameInJson[name] ?? name),
    table.rows.map((row) => row.map((value) => (typeof value === 'boolean' ? String(value) : value))),
  );
}

async function allocations(options: QuestionOptions): Promise<Answer> {
  const { findAllocations } = await import('./allocations.ts');
  const source = options.sources[0]!;
  const found = await findAllocations(source, options.dir, options.threads, options);
  return shown(
    'allocations',
    allocationsDocument(source, found.gaps, found.allocations, options.limit ?? 30),
  );
}

async function exportFlame(options: QuestionOptions): Promise<Answer> {
  const format = oneOf('--format', options.format ?? 'speedscope', ['speedscope', 'folded']);
  const answer = (frames: FlameFrame[], source: string, gaps: Gap[]): Answer => ({
    document: { schema: heapSchema, source, gaps, frames },
    text: () => (format === 'folded' ? renderFolded(frames) : renderSpeedscope(frames, source)),
  });
  const source = options.sources[0]!;
  if (sourceKind(source) === 'profile') {
    const { profileFlame } = await import('./allocations.ts');
    return answer(profileFlame(source), source, []);
  }
  return ask(options, ({ heap, gaps }) => answer(computeFlame(heap), source, gaps));
}

function oneOf(option: string, value: string, known: string[]): string {
  if (known.includes(value)) return value;
  throw new AgentdumpError('usage', `${option} takes one of ${known.join(', ')}`, { argument: option });
}
