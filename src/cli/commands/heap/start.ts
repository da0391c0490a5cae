/**
 * Parses the arguments of `agentdump heap` without yargs, which would cost a quarter of the time for a small snapshot.
 * Everything else (help, mistakes) is left to yargs, so that there is one set of messages. The build bundles this file with
 * all its imports.
 */
import { parseArgs } from 'node:util';
import { answerHeap, type HeapArguments } from './answer.ts';

const valued = ['limit', 'sort', 'format', 'out', 'html', 'threads', 'dir'] as const;
/** The name of this option in the other commands. */
const sameAsOut = { output: { type: 'string' as const, short: 'o' } };

export async function runWords(words: string[], withYargs: () => Promise<void>): Promise<void> {
  const argv = readPlain(words);
  await (argv ? answerHeap(argv) : withYargs());
}

/** Undefined if yargs must handle it. */
function readPlain(words: string[]): HeapArguments | undefined {
  if (words.includes('--')) return undefined;
  try {
    const options = {
      json: { type: 'boolean' as const },
      ...sameAsOut,
      ...(Object.fromEntries(valued.map((name) => [name, { type: 'string' as const }])) as Record<
        (typeof valued)[number],
        { type: 'string' }
      >),
    };
    const { values, positionals, tokens } = parseArgs({
      args: words,
      options,
      allowPositionals: true,
      tokens: true,
    });
    const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    if (new Set(given).size < given.length) return undefined;
    const { limit, threads, json, output, ...texts } = values;
    if (output !== undefined && texts.out !== undefined) return undefined;
    return {
      ...texts,
      ...(output === undefined ? {} : { out: output }),
      words: positionals,
      json: json ?? false,
      ...(limit === undefined ? {} : { limit: Number(limit) }),
      ...(threads === undefined ? {} : { threads: Number(threads) }),
    };
  } catch {
    return undefined;
  }
}
