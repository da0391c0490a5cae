/**
 * A program with more than eighty faults (`fixtures/fleet`), written before the rules of version 7 without a look at those of
 * version 6: what libraries, Node and the system throw, wrapped and repeated errors, exits, hangs and heaps that grow.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultSet, type FaultVariant, sourceOf } from './fault-set.ts';

const variants: readonly FaultVariant[] = [
  { name: 'as written', node: 20, way: 'direct', build: 'written', seed: 1 },
  { name: 'shifted, after an await', node: 22, way: 'awaited', build: 'shifted', seed: 2 },
  { name: 'minified, from a timer', node: 26, way: 'timer', build: 'minified', seed: 3 },
  { name: 'terser, from a queue', node: 24, way: 'queue', build: 'terser', seed: 4 },
  { name: 'minified, from an event, no map', node: 22, way: 'event', build: 'unmapped', seed: 5 },
  { name: 'bundled, from a request, no map', node: 24, way: 'http', build: 'bundled', seed: 6 },
];

export const thirdSet: FaultSet = {
  name: 'fleet',
  faults: [
    ...readFileSync(join(sourceOf('fleet'), 'routes.mjs'), 'utf8').matchAll(/^ {2}'?([a-z-]+)'?: \(/gm),
  ].map(([, name]) => name ?? ''),
  variantsOf: () => variants,
};
