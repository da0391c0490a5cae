/**
 * Scripts of a dead V8: name, text, and line ends. The line ends are computed from the text, because V8 itself computes them
 * only on demand.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { doubtText, findExternalText, findString, findStringLength } from '../strings.ts';

export interface Script {
  id: number;
  /** As recorded by V8: a path, a URL, `node:…`, or empty for eval and similar. */
  name: string;
  /** Why its name or its lines may not be right. */
  doubt?: string;
  /** Undefined if the text is not in the core. */
  source?: string;
  lineOffset: number;
  columnOffset: number;
  /** A text that `eval` or `new Function` was given: V8 calls its functions without a name `eval`. */
  isEval?: boolean;
}

/** 1-based. */
export interface LineColumn {
  line: number;
  column: number;
}

/** The text of one of Node's own scripts, which is part of its executable. */
export interface OuterText {
  address: number;
  bytesPerUnit: 1 | 2;
  length: number;
  /** The parts that are needed, as [start, end) in UTF-16 units; of the rest only the number of lines is used. */
  shown: [number, number][];
}

/** The largest bundle seen in practice is about 60 MB. */
const maxSourceLength = 256 << 20;
/** No script that is part of a file, such as a page, begins at a later line or column than this. */
const maxOffset = 100_000;

export class Scripts {
  readonly #heap: V8Heap;
  readonly #scripts = new Map<Tagged, Script | undefined>();
  readonly #lineEnds = new Map<Script, Uint32Array>();
  readonly #outer = new Map<Script, OuterText>();

  constructor(heap: V8Heap) {
    this.#heap = heap;
  }

  /** Undefined if the value is not a script. */
  find(value: Tagged): Script | undefined {
    if (!this.#scripts.has(value)) this.#scripts.set(value, this.#read(value));
    return this.#scripts.get(value);
  }

  /** Scripts that were requested so far. */
  all(): Script[] {
    return [...this.#scripts.values()].filter((script) => script !== undefined);
  }

  /** Texts in the executable of the scripts that were requested so far. */
  outerTexts(): OuterText[] {
    return [...this.#outer.values()];
  }

  /**
   * A range of the text by UTF-16 offsets; undefined without the text. `measure` returns how much of the range from its start
   * is used, if not all of it.
   */
  findText(
    script: Script,
    start: number,
    end: number,
    measure: (text: string) => number = (text) => text.length,
  ): string | undefined {
    const text = script.source?.slice(start, end);
    if (text !== undefined) this.#outer.get(script)?.shown.push([start, start + measure(text)]);
    return text;
  }

  /** Line and column of a UTF-16 offset in the text; undefined without the text or beyond its end. */
  findPlace(script: Script, position: number): LineColumn | undefined {
    if (script.source === undefined || position < 0 || position > script.source.length) return undefined;
    const ends = this.#ends(script, script.source);
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] as number) < position) low = middle + 1;
      else high = middle;
    }
    const start = low === 0 ? 0 : (ends[low - 1] as number) + 1;
    // The line end before it, and that there is none in between.
    this.#outer.get(script)?.shown.push([start - 1, start], [position, position]);
    const column = position - start + 1 + (low === 0 ? script.columnOffset : 0);
    return { line: low + 1 + script.lineOffset, column };
  }

  /** The text of a line by its 1-based number in the file. */
  findLine(script: Script, line: number): string | undefined {
    if (script.source === undefined) return undefined;
    const ends = this.#ends(script, script.source);
    const row = line - 1 - script.lineOffset;
    if (row < 0 || row > ends.length) return undefined;
    const start = row === 0 ? 0 : (ends[row - 1] as number) + 1;
    const end = ends[row] ?? script.source.length;
    this.#outer.get(script)?.shown.push([start - 1, end + 1]);
    return this.findText(script, start, end)?.replace(/\r$/, '');
  }

  #read(value: Tagged): Script | undefined {
    const heap = this.#heap;
    const { types, script } = heap.layout;
    if (!heap.isType(value, types.script)) return undefined;
    const text = heap.field(value, script.source);
    const source = this.#readSource(text);
    const outer = whereMapped(() => findExternalText(heap, text));
    const name = heap.field(value, script.name);
    const found: Script = {
      id: heap.findSmi(value, script.id) ?? 0,
      name: findString(heap, name, 4096) ?? '',
      lineOffset: heap.findSmi(value, script.lineOffset) ?? 0,
      columnOffset: heap.findSmi(value, script.columnOffset) ?? 0,
      ...(source === undefined ? {} : { source }),
    };
    // Of a function with a given list of parameters the field is an array.
    if (script.evalFrom !== undefined && heap.isType(heap.field(value, script.evalFrom), types.shared))
      found.isEval = true;
    const doubt = this.#doubtOf(value, found);
    if (doubt) found.doubt = doubt;
    if (outer) this.#outer.set(found, { ...outer, shown: [] });
    return found;
  }

  #doubtOf(value: Tagged, { lineOffset, columnOffset }: Script): string | undefined {
    const heap = this.#heap;
    const { script } = heap.layout;
    const name = doubtText(heap, heap.field(value, script.name));
    if (name) return `a file's name ${name}`;
    const source = doubtText(heap, heap.field(value, script.source));
    if (source) return `the source of a script ${source}: its lines may be wrong`;
    const isPlausible = [script.lineOffset, script.columnOffset].every(
      (at) => heap.findSmi(value, at) !== undefined,
    );
    return isPlausible && Math.abs(lineOffset) < maxOffset && Math.abs(columnOffset) < maxOffset
      ? undefined
      : 'where a script begins in its file could not be read: its lines may be wrong';
  }

  #readSource(value: Tagged): string | undefined {
    return whereMapped(() => {
      const length = findStringLength(this.#heap, value);
      if (length === undefined || length > maxSourceLength) return undefined;
      return findString(this.#heap, value, length);
    });
  }

  /** Offsets of the line ends. V8 ends lines at \n, \r and U+2028/9, and \r\n counts once. */
  #ends(script: Script, source: string): Uint32Array {
    const known = this.#lineEnds.get(script);
    if (known) return known;
    const ends: number[] = [];
    const matcher = /\r(?!\n)|[\n\u2028\u2029]/g;
    for (let match = matcher.exec(source); match; match = matcher.exec(source)) ends.push(match.index);
    const table = Uint32Array.from(ends);
    this.#lineEnds.set(script, table);
    return table;
  }
}
