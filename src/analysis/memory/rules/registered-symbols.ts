/** Many symbols made by `Symbol.for` with texts that differ, such as an id of each request. */
import { registeredSymbols } from '../suspects/registered-symbols.ts';
import {
  isLargeShare,
  manyText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const fewestSymbols = 1000;
const leastShare = 0.05;

export const registeredSymbolsRule: SuspectRule = {
  name: 'registered-symbols',
  find(context) {
    const found = registeredSymbols(context.heap);
    if (!found) return [];
    const { table, symbols, bytes } = found;
    if (symbols.length < fewestSymbols || !isLargeShare(context, bytes, leastShare)) return [];
    return [
      suspectAt(context, 'registered-symbols', table, bytes, {
        title: `${manyText(symbols.length, 'symbols')} of Symbol.for`,
        sentence: `${manyText(symbols.length, 'symbols')} made by Symbol.for keep ${shareText(bytes, context)} alive. Their registry keeps each for ever: use Symbol() for what is made again and again, or a string.`,
        confidence: 'likely',
        evidence: [`${symbols.length} symbols in V8's registry, ${bytes} bytes with their texts`],
        refutedBy: 'The program has that many names for symbols, and will not make more.',
      }),
    ];
  },
};
