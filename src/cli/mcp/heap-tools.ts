/** Questions about memory, answered by `agentdump heap`. Loaded on demand, because the engine is large. */

import { queryFields } from '../../analysis/memory/query/syntax.ts';
import type { HeapDocument } from '../../model/heap.ts';
import type { AllowedBundles } from './allowed-bundles.ts';
import {
  classesSchema,
  holdersSchema,
  pathsSchema,
  querySchema,
  stringsSchema,
  structuredClasses,
  structuredHolders,
  structuredPaths,
  structuredQuery,
  structuredStrings,
  structuredSuspects,
  structuredValue,
  suspectsSchema,
  valueSchema,
} from './structured-heap.ts';
import {
  bundleField,
  bundleOf,
  countOf,
  type Tool,
  type ToolAnswer,
  type ToolWords,
  textOf,
} from './tool.ts';

const coreField = {
  type: 'string',
  description: 'Name of a core file in the dump folders: asks its heap instead of a bundle',
  maxLength: 1000,
} as const;
const idField = {
  type: 'string',
  description: 'Id of the node, such as 12345 or @12345; of a core also an address, such as 0x3f1c2a41b9a9',
  maxLength: 40,
} as const;
const limitField = { type: 'integer', description: 'Rows', minimum: 1, maximum: 100 } as const;

interface Question<Document> {
  name: string;
  rest: string[];
  /** The document as data. */
  tell(document: Document): object;
}

async function ask<Document>(
  { name, rest, tell }: Question<Document>,
  words: ToolWords,
  allowed: AllowedBundles,
): Promise<ToolAnswer> {
  const { questions } = await import('../commands/heap/questions.ts');
  const core = textOf(words, 'core');
  const path = core === undefined ? allowed.find(bundleOf(words)) : allowed.findCore(core);
  const answer = await questions[name]!.answer({
    sources: [path],
    rest,
    limit: countOf(words, 'limit', 20),
    sort: textOf(words, 'sort'),
    format: undefined,
    threads: 1,
    dir: '.',
    isCore: core !== undefined,
  });
  const { gaps } = answer.document as HeapDocument;
  const data = tell(answer.document as Document);
  return { text: await answer.text(), data: gaps.length > 0 ? { ...data, gaps } : data };
}

/** `change` compares with a second snapshot, which the tool doesn't take. */
const fields = queryFields.filter((field) => field !== 'change').join(', ');

export const heapTools: readonly Tool[] = [
  {
    name: 'heap_suspects',
    title: 'Heap leak suspects',
    description:
      'Leak suspects of the heap snapshot, each as a sentence with figures, evidence and what would refute it.',
    input: { fields: { bundle: bundleField, core: coreField, limit: limitField } },
    answer: (words, allowed) => ask({ name: 'suspects', rest: [], tell: structuredSuspects }, words, allowed),
    output: suspectsSchema,
  },
  {
    name: 'heap_query',
    title: 'Search the heap snapshot',
    description: `Nodes by condition, or groups of them, in SQL words: \`class = Session and retained > 1MB sort by retained\`; \`select .res.statusCode, count(), sum(self) from Request group by .res.statusCode\`. Fields: ${fields}. Properties: \`.res.statusCode\`, \`["x"]\`, \`[0]\`, \`.list.length\`, \`.map.size\`; \`has .x\`, \`is null\`, in, between, like, glob, ~; \`references\`, \`referenced by\`, \`retains\`, \`retained by\`, \`dominated by\` (condition).`,
    input: {
      fields: {
        bundle: bundleField,
        core: coreField,
        query: { type: 'string', description: 'The condition', maxLength: 2000 },
        limit: limitField,
      },
      required: ['query'],
    },
    answer: (words, allowed) =>
      ask({ name: 'query', rest: [textOf(words, 'query') ?? ''], tell: structuredQuery }, words, allowed),
    output: querySchema,
  },
  {
    name: 'heap_retainers',
    title: 'Retainers of an object',
    description:
      'What references a node of the heap snapshot: its direct holders, or with path: the shortest path from the roots. Ids come from heap_suspects and heap_query.',
    input: {
      fields: {
        bundle: bundleField,
        core: coreField,
        id: idField,
        path: {
          type: 'boolean',
          description: 'The path from the roots instead of the direct holders',
          default: false,
        },
        limit: limitField,
      },
      required: ['id'],
    },
    answer: (words, allowed) => {
      const name = words['path'] === true ? 'path' : 'retainers';
      return ask({ name, rest: [textOf(words, 'id') ?? ''], tell: structuredHolders }, words, allowed);
    },
    output: holdersSchema,
  },
  {
    name: 'heap_paths',
    title: 'What holds many objects',
    description:
      'The paths from the roots to all objects of a class or of a condition, merged to a tree: how many objects and bytes are held by what. The lines are in the order of the tree, with their depth.',
    input: {
      fields: {
        bundle: bundleField,
        core: coreField,
        of: {
          type: 'string',
          description: 'A class, a node id or a condition as in heap_query, such as class = Session',
          maxLength: 2000,
        },
        limit: limitField,
      },
      required: ['of'],
    },
    answer: (words, allowed) =>
      ask({ name: 'paths', rest: [textOf(words, 'of') ?? ''], tell: structuredPaths }, words, allowed),
    output: pathsSchema,
  },
  {
    name: 'heap_objects',
    title: 'Classes of the heap',
    description: 'Classes with the number of their objects, their own size and what they keep alive.',
    input: {
      fields: {
        bundle: bundleField,
        core: coreField,
        sort: { type: 'string', description: 'Order', enum: ['retained', 'self', 'count', 'name'] },
        limit: limitField,
      },
    },
    answer: (words, allowed) => ask({ name: 'classes', rest: [], tell: structuredClasses }, words, allowed),
    output: classesSchema,
  },
  {
    name: 'heap_inspect',
    title: 'Value of an object',
    description:
      'An object of the heap: its properties, items, entries or closure variables with their ids. Of a core also numbers, bytes, entries of weak collections, target and handler of a Proxy, and where a function was written.',
    input: {
      fields: { bundle: bundleField, core: coreField, id: idField, limit: limitField },
      required: ['id'],
    },
    answer: (words, allowed) =>
      ask({ name: 'show', rest: [textOf(words, 'id') ?? ''], tell: structuredValue }, words, allowed),
    output: valueSchema,
  },
  {
    name: 'heap_strings',
    title: 'Duplicate strings',
    description:
      'Strings that are there more than once, with their number, what one copy would save, and who holds the copies.',
    input: { fields: { bundle: bundleField, core: coreField, limit: limitField } },
    answer: (words, allowed) => ask({ name: 'strings', rest: [], tell: structuredStrings }, words, allowed),
    output: stringsSchema,
  },
];
