/**
 * Decodes the bytes of frame translations into operations by name: one-byte opcodes, operands of variable length, and runs
 * that repeat operations of an earlier translation. The meaning of the operations is not interpreted here. Sources:
 * src/deoptimizer/frame-translation-builder.cc and src/objects/deoptimization-data.cc of V8.
 */
import { VlqReader } from './positions.ts';
import type { TranslationOpcodes } from './translation-opcodes.ts';

export interface Operation {
  name: string;
  /** As encoded, without a sign. */
  operands: number[];
}

/** The sign is the lowest bit, without the zig-zag encoding of position tables. */
export const signed = (value: number) => (value % 2 === 0 ? value / 2 : -(value - 1) / 2);

/** A translation may state that its next n operations equal those of an earlier translation, its basis. */
export class TranslationReader {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #opcodes: TranslationOpcodes;
  /** Not in V8 10. */
  readonly #hasBasis: boolean;
  #own: VlqReader;
  #basis: VlqReader | undefined;
  /** Number of operations that were read from the basis, or skipped in it. */
  #basisIndex = 0;
  #index = 0;
  #matching = 0;

  constructor(bytes: Uint8Array, start: number, opcodes: TranslationOpcodes) {
    this.#bytes = bytes;
    this.#start = start;
    this.#opcodes = opcodes;
    this.#hasBasis = opcodes.names.at(-1) === 'MATCH_PREVIOUS_TRANSLATION';
    this.#own = new VlqReader(bytes.subarray(start));
  }

  /** Returns the number of JavaScript frames that follow. */
  begin(): number | undefined {
    const begin = this.#readBegin(this.#own) ?? [];
    if (!this.#hasBasis) return signed(begin[1] ?? 0);
    const [lookback = 0, , frames = 0] = begin;
    if (lookback > this.#start) return undefined;
    if (lookback > 0) {
      this.#basis = new VlqReader(this.#bytes.subarray(this.#start - lookback));
      if (!this.#readBegin(this.#basis)) return undefined;
    }
    return signed(frames);
  }

  /** Undefined at the end of the bytes, or if they are invalid. The next translation begins with a BEGIN operation. */
  next(): Operation | undefined {
    const operation = this.#matching > 0 ? this.#fromBasis() : this.#fromOwn();
    this.#index++;
    return operation;
  }

  #readBegin(reader: VlqReader): number[] | undefined {
    const operation = this.#read(reader);
    return operation?.name.startsWith('BEGIN') ? operation.operands : undefined;
  }

  #fromOwn(): Operation | undefined {
    const { operandCounts } = this.#opcodes;
    const matchPrevious = operandCounts.length - 1;
    const opcode = this.#opcode(this.#own);
    if (opcode === undefined) return undefined;
    if (!this.#hasBasis || opcode < matchPrevious) return this.#operands(this.#own, opcode);
    // Short form: the opcode itself contains the count.
    this.#matching = opcode === matchPrevious ? this.#own.unsigned() : opcode - operandCounts.length;
    return this.#fromBasis();
  }

  #fromBasis(): Operation | undefined {
    this.#matching--;
    if (!this.#basis) return undefined;
    for (; this.#basisIndex < this.#index; this.#basisIndex++) if (!this.#read(this.#basis)) return undefined;
    this.#basisIndex++;
    return this.#read(this.#basis);
  }

  #read(reader: VlqReader): Operation | undefined {
    const opcode = this.#opcode(reader);
    return opcode === undefined ? undefined : this.#operands(reader, opcode);
  }

  #opcode(reader: VlqReader): number | undefined {
    const byte = reader.byte();
    return byte !== undefined && this.#opcodes.hasSignedOpcodes ? signed(byte) : byte;
  }

  #operands(reader: VlqReader, opcode: number): Operation | undefined {
    const count = this.#opcodes.operandCounts[opcode];
    const name = this.#opcodes.names[opcode];
    if (count === undefined || name === undefined) return undefined;
    const operands: number[] = [];
    for (let i = 0; i < count; i++) operands.push(reader.unsigned());
    return reader.isBroken ? undefined : { name, operands };
  }
}
