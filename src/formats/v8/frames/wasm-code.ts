/**
 * WebAssembly functions on the stack: finds module and function of a frame. The frame contains the instance, which leads to
 * V8's record of the module (NativeModule). There the module's bytes and its code table are recognised by their contents: the
 * bytes by their magic number, the code table because each entry points back to the record and contains the function's
 * number. Sources: WasmFrameConstants in src/execution/frame-constants.h, src/wasm/wasm-code-manager.h and
 * src/objects/managed.h of V8.
 */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { findString } from '../strings.ts';
import { readWasmNames, type WasmNames, wasmMagic, wasmVersion } from './wasm-names.ts';

export interface WasmFunction {
  /** Its own name, or its export name; otherwise its number, in the form of V8's stack traces. */
  name: string;
  /** In the form of V8's stack traces: wasm://wasm/ and the module's name or hash. */
  file?: string;
}

interface Module {
  file?: string;
  names: WasmNames;
  /** Indexed by function number without imported functions; 0 if not compiled. */
  codes: number[];
}

const instanceSlot = -16;
/** Number of words of an instance, a module and V8's record that are searched. */
const searchedWords = { instance: 64, module: 16, record: 160 };
const pointerInManaged = 24;
const codeStart = 8;
const maxFunctions = 1 << 20;
const maxWireBytes = 2 ** 31;
const longestSection = 1 << 20;
const maxName = 512;

export class WasmReader {
  readonly #heap: V8Heap;
  readonly #modules = new Map<number, Module | undefined>();

  constructor(heap: V8Heap) {
    this.#heap = heap;
  }

  /**
   * For a frame of type WasmFrame. `address`: within the instruction that was running or calling. Undefined if the code does
   * not belong to the module, or was not found.
   */
  find(framePointer: number, address: number): WasmFunction | undefined {
    const instance = this.#heap.memory.findWord(framePointer + instanceSlot);
    const object = instance === undefined ? undefined : whereMapped(() => this.#findModuleObject(instance));
    if (object === undefined) return undefined;
    if (!this.#modules.has(object)) this.#modules.set(object, this.#safely(object));
    const module = this.#modules.get(object);
    return module && whereMapped(() => this.#functionAt(module, address));
  }

  #functionAt({ codes, names, file }: Module, address: number): WasmFunction | undefined {
    const { memory } = this.#heap;
    const { size } = this.#codeLayout();
    const k = codes.findIndex((code) => {
      const start = code === 0 ? Infinity : memory.readWord(code + codeStart);
      return address >= start && address < start + memory.readUint32(code + size);
    });
    if (k < 0) return undefined;
    const index = names.importedFunctions + k;
    return {
      name: names.findFunction(index) || `wasm-function[${index}]`,
      ...(file && { file }),
    };
  }

  /** Offsets in a WasmCode. */
  #codeLayout() {
    return this.#heap.layout.line < 1300 ? { size: 24, index: 44 } : { size: 32, index: 56 };
  }

  /** Since V8 12 the frame contains the trusted instance data, an object separate from the one that JavaScript sees. */
  #findModuleObject(instance: Tagged): Tagged | undefined {
    const { instance: words, module: few } = searchedWords;
    const direct = this.#findHeld(instance, 'WASM_MODULE_OBJECT', words);
    if (direct !== undefined) return direct;
    const object = this.#findHeld(instance, 'WASM_INSTANCE_OBJECT', words);
    return object === undefined ? undefined : this.#findHeld(object, 'WASM_MODULE_OBJECT', few);
  }

  #findHeld(object: Tagged, typeName: string, words: number): Tagged | undefined {
    const heap = this.#heap;
    for (let i = 1; i < words; i++) {
      const value = heap.memory.findWord(object - 1 + i * 8);
      const type = value === undefined ? undefined : heap.findType(value);
      if (type !== undefined && heap.layout.instanceTypes.get(type) === typeName) return value;
    }
    return undefined;
  }

  #safely(object: Tagged): Module | undefined {
    try {
      return whereMapped(() => this.#readModule(object));
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #readModule(object: Tagged): Module | undefined {
    const { memory, layout } = this.#heap;
    const foreign = this.#findHeld(object, 'FOREIGN', searchedWords.module);
    if (foreign === undefined) return undefined;
    const record = memory.readWord(memory.readWord(memory.readWord(foreign + 7) + pointerInManaged));
    const words = Array.from(
      { length: searchedWords.record },
      (_, i) => memory.findWord(record + i * 8) ?? 0,
    );
    const names = this.#findNames(words);
    const codes = names && this.#findCodes(record, words, names.importedFunctions);
    if (!codes) return undefined;
    const script = this.#findHeld(object, 'SCRIPT', searchedWords.module);
    const file = script && findString(this.#heap, this.#heap.field(script, layout.script.name), maxName);
    return { names, codes, ...(file && { file }) };
  }

  /** A word points to a pair of the bytes' address and their length. */
  #findNames(words: readonly number[]): WasmNames | undefined {
    const { memory } = this.#heap;
    for (const word of words) {
      const bytes = isAddress(word) ? memory.findWord(word) : undefined;
      if (bytes === undefined || bytes <= 4096 || !memory.has(bytes, 8)) continue;
      if (memory.readUint32(bytes) !== wasmMagic || memory.readUint32(bytes + 4) !== wasmVersion) continue;
      const length = memory.readWord(word + 8);
      if (!(length > 8 && length < maxWireBytes)) continue;
      return readWasmNames((at, count) => memory.readBytes(bytes + at, count), length, longestSection);
    }
    return undefined;
  }

  /**
   * A word points to the table. It has one entry for each function, which points back to the record and contains the
   * function's number.
   */
  #findCodes(record: number, words: readonly number[], imported: number): number[] | undefined {
    const { memory } = this.#heap;
    const { index } = this.#codeLayout();
    for (const word of words) {
      if (!isAddress(word)) continue;
      const codes: number[] = [];
      let isFound = false;
      for (let k = 0; k < maxFunctions; k++) {
        const code = memory.findWord(word + k * 8);
        if (code === undefined || (code !== 0 && (!isAddress(code) || memory.findWord(code) !== record)))
          break;
        if (code !== 0 && memory.readInt32(code + index) !== imported + k) break;
        isFound ||= code !== 0;
        codes.push(code);
      }
      if (isFound) return codes;
    }
    return undefined;
  }
}

const isAddress = (word: number) => word > 4096 && word < 2 ** 48 && word % 8 === 0;
