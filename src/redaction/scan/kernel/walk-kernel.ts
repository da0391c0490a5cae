/**
 * The walk's WebAssembly, the memory that it walks over, and its tables, which are copies of ours. Compiled when the first
 * long text is redacted. Where there is no WebAssembly, or no memory for it, `take` returns nothing, and the walk in
 * TypeScript does the same, more slowly.
 */
import { firstFactor, type NameBook, nameKind, otherFactor } from '../../names/name-book.ts';
import { kindTable, stemTable, tellTable } from '../../names/telling-stems.ts';
import { telltaleWords } from '../../names/telltale-words.ts';
import { cellUnits } from '../../tables/first-lines.ts';
import { characterTables } from '../characters.ts';
import { PageMaker } from '../page.ts';
import { shapeTable } from '../shape-table.ts';
import { walkCode } from './walk-code.ts';

/** Indices of `state`, in the order of walk-layout.as.ts. */
export const field = {
  stop: 0,
  nameStart: 1,
  nameEnd: 2,
  isJoined: 3,
  groupEnd: 4,
  allMaySmell: 5,
  firstFactor: 6,
  otherFactor: 7,
  labelEnd: 8,
  fieldEnd: 9,
} as const;

/** What the kernel is told about a word, so that it does not stop there again: the values of `known` in walk-names.as.ts. */
export const walkMemory = {
  ...nameKind,
  /** A function that takes no credential. */
  callee: 9,
  /** A word that only has the outline of a telltale one. */
  plain: 11,
  /** A weak name and the word before it, which makes nothing more of it. */
  pair: 13,
  /** Eight units that only have the hashes of a shape's start. */
  start: 15,
} as const;

interface Constant {
  readonly value: number;
}

interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  stateAt: Constant;
  headsAt: Constant;
  longHeadsAt: Constant;
  deepHeadsAt: Constant;
  lastHeadsAt: Constant;
  followsAt: Constant;
  sextetsAt: Constant;
  outlinesAt: Constant;
  stemsAt: Constant;
  cellsAt: Constant;
  tellsAt: Constant;
  kindsAt: Constant;
  needsAt: Constant;
  needRowsAt: Constant;
  classesAt: Constant;
  textAt: Constant;
  next(from: number, to: number, isWithin: boolean): number;
  rememberWord(start: number, end: number, as: number): void;
  forgetNames(): void;
}

/** The part of the API that is used here. Node's types don't include it, only those of the browser. */
interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
}

/** As it was when this file was loaded: a program may replace it. */
const api = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;

let compiled: object | undefined;
let isMissing = api === undefined;
const free: WalkKernel[] = [];

export class WalkKernel {
  readonly units: Uint16Array<ArrayBuffer>;
  readonly state: Int32Array;
  readonly pages: PageMaker;
  private readonly exports: Exports;
  private names: NameBook | undefined;

  /** One that nobody uses, for texts with these names. */
  static take(names: NameBook): WalkKernel | undefined {
    if (isMissing) return undefined;
    try {
      const kernel = free.pop() ?? new WalkKernel();
      kernel.serve(names);
      return kernel;
    } catch {
      isMissing = true;
      return undefined;
    }
  }

  private constructor() {
    compiled ??= new api!.Module(Buffer.from(walkCode, 'base64'));
    this.exports = new api!.Instance(compiled).exports as Exports;
    const { memory, textAt, stateAt } = this.exports;
    this.units = new Uint16Array(memory.buffer, textAt.value);
    this.state = new Int32Array(memory.buffer, stateAt.value, 10);
    this.pages = new PageMaker(this.units);
    this.fillTables();
  }

  private fillTables(): void {
    const { memory, ...at } = this.exports;
    const { heads, longHeads, deepHeads, lastHeads } = shapeTable();
    const { outlines, follows, needs, needRows } = telltaleWords();
    const { classes, sextets } = characterTables();
    const put = (table: Uint8Array | Int32Array, place: Constant): void =>
      new Uint8Array(memory.buffer, place.value).set(
        new Uint8Array(table.buffer, table.byteOffset, table.byteLength),
      );
    put(heads, at.headsAt);
    put(longHeads, at.longHeadsAt);
    put(deepHeads, at.deepHeadsAt);
    put(lastHeads, at.lastHeadsAt);
    put(outlines, at.outlinesAt);
    put(follows, at.followsAt);
    put(needs, at.needsAt);
    put(needRows, at.needRowsAt);
    put(kindTable(), at.kindsAt);
    put(tellTable(), at.tellsAt);
    put(stemTable(), at.stemsAt);
    put(cellUnits(), at.cellsAt);
    put(sextets, at.sextetsAt);
    put(classes, at.classesAt);
    this.state[field.firstFactor] = firstFactor;
    this.state[field.otherFactor] = otherFactor;
  }

  private serve(names: NameBook): void {
    if (names === this.names) return;
    this.names = names;
    this.exports.forgetNames();
    this.state[field.allMaySmell] = names.allMaySmell ? 1 : 0;
  }

  release(): void {
    free.push(this);
  }

  /** See WordWalk.next. What it knows and answers besides the position is in `state`. */
  next(from: number, to: number, isWithin: boolean): number {
    return this.exports.next(from, to, isWithin);
  }

  remember(start: number, end: number, as: number): void {
    this.exports.rememberWord(start, end, as);
  }
}
