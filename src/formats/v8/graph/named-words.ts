/** The words of an object that have a named edge, in the order of these edges: the same for all objects of a map. */

import { Edge } from './object-kinds.ts';

export interface NamedWord {
  word: number;
  type: number;
  /** Text number. */
  name: number;
  /** `Trait`s. */
  traits?: number;
}

export const Trait = {
  /** Also constants that every heap has get an edge. */
  withConstants: 1,
  /** A hidden edge follows. */
  twice: 2,
} as const;

/** In columns. */
export class NamedWords {
  readonly count: number;
  readonly words: Uint32Array;
  readonly types: Uint8Array;
  readonly names: Uint32Array;
  readonly traits: Uint8Array;

  constructor(all: readonly NamedWord[]) {
    this.count = all.length;
    this.words = Uint32Array.from(all, ({ word }) => word);
    this.types = Uint8Array.from(all, ({ type }) => type);
    this.names = Uint32Array.from(all, ({ name }) => name);
    this.traits = Uint8Array.from(all, ({ traits = 0 }) => traits);
  }
}

export const internalWord = (word: number, name: number, isWeak = false): NamedWord => ({
  word,
  name,
  type: isWeak ? Edge.weak : Edge.internal,
});
