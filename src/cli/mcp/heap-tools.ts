/** Questions about memory, answered by `agentdump heap`. Loaded when one is asked: the engine is large. */

import { queryFields } from '../../analysis/memory/query/syntax.ts';
import type { AllowedBundles } from './allowed-bundles.ts';
import {
  holdersSchema,
  querySchema,
  structuredHolders,
  structuredQuery,
  structuredSuspects,
  suspectsSchema,
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
  const path = allowed.find(bundleOf(words));
  const answer = await questions[name]!.answer({
    sources: [path],
    rest,
    limit: countOf(words, 'limit', 20),
    sort: undefined,
    format: undefined,
    threads: 1,
    dir: '.',
  });
  return { text: await answer.text(), data: tell(answer.document as Document) };
}

export const heapTools: readonly Tool[] = [
  {
    name: 'heap_suspects',
    title: 'Heap leak suspects',
    description:
      'Leak suspects of the heap snapshot, each as a sentence with figures, evidence and what would refute it.',
    input: { fields: { bundle: bundleField, limit: limitField } },
    answer: (words, allowed) => ask({ name: 'suspects', rest: [], tell: structuredSuspects }, words, allowed),
    output: suspectsSchema,
  },
  {
    name: 'heap_query',
    title: 'Search the heap snapshot',
    description: `Nodes by condition, or groups of them, in SQL words: \`class = Session and retained > 1MB sort by retained\`; \`select .res.statusCode, count(), sum(self) from Request group by .res.statusCode\`. Fields: ${queryFields.join(', ')}. Properties: \`.res.statusCode\`, \`["x"]\`, \`[0]\`, \`.list.length\`, \`.map.size\`; \`has .x\`, \`is null\`, in, between, like, glob, ~; \`references\`, \`referenced by\`, \`retains\`, \`retained by\`, \`dominated by\` (condition).`,
    input: {
      fields: {
        bundle: bundleField,
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
        id: { type: 'string', description: 'Id of the node, such as 12345 or @12345', maxLength: 40 },
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
];
