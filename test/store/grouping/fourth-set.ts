/**
 * A program with 75 faults (`fixtures/depot`), written before the rules of version 8 without a look at those of version 7:
 * messages whose data has no quotes around it, faults that share an assertion, a wrapper of fetch, a retry, a validation or a
 * client of a database, several faults of one function, and callers that were refactored.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultSet, type FaultVariant, sourceOf } from './fault-set.ts';

const ways = ['direct', 'async', 'timer', 'queue', 'event', 'http'] as const;
const faults = ['shop', 'plain', 'platform'].flatMap((name) =>
  [
    ...readFileSync(join(sourceOf('depot'), `${name}.mjs`), 'utf8').matchAll(
      /^export const (\w+(?:Flow|Hang|Grows?)) =/gm,
    ),
  ].map(([, fault]) => fault ?? ''),
);

/** Each fault has one of each kind of build; which minifier, Node and way depends on its place in the list. */
function variantsOf(fault: string): FaultVariant[] {
  const place = faults.indexOf(fault);
  const wayOf = (n: number) => ways[(place + n * 2 + (place % 2)) % ways.length] ?? 'direct';
  const isEven = place % 2 === 0;
  return [
    { name: 'as written', node: 20, way: wayOf(0), build: 'written', seed: 1 },
    { name: 'refactored', node: isEven ? 22 : 26, way: wayOf(1), build: 'refactored', seed: 2 },
    { name: 'minified', node: 24, way: wayOf(2), build: isEven ? 'minified' : 'terser', seed: 3 },
    {
      name: 'minified, no map',
      node: isEven ? 26 : 22,
      way: wayOf(place),
      build: isEven ? 'terserUnmapped' : 'unmapped',
      seed: 4,
    },
  ];
}

export const fourthSet: FaultSet = { name: 'depot', faults, variantsOf };
