/**
 * The inner loops of scan.as.ts, with a window in their own memory. Bytes in that window are scanned by the kernel, all other
 * bytes by the general readers. Defines the layout of that memory, but not the meaning of records.
 */
import { scanCode } from './scan-code.ts';

/** Large enough to make the cost of a call negligible, small enough to stay in a core's second-level cache. */
export const windowBytes = 1 << 20;
/** NUL bytes after a window, so that a scanner may read a little beyond its end. */
export const sentinelBytes = 16;

/** Slots for the numbers of a node, in the order of scan.as.ts. Fields that are not listed go to `other`. */
export const Slot = {
  type: 0,
  name: 1,
  id: 2,
  selfSize: 3,
  edgeCount: 4,
  traceNodeId: 5,
  detachedness: 6,
  other: 7,
} as const;

interface Constant {
  readonly value: number;
}

interface Exports {
  memory: { readonly buffer: ArrayBuffer };
  windowAt: Constant;
  edgeKindsAt: Constant;
  nodeCodesAt: Constant;
  fieldSlotsAt: Constant;
  outAt: Constant;
  edgeRows: Constant;
  nodeRows: Constant;
  stringRows: Constant;
  numberCount: Constant;
  position: Constant;
  maxName: Constant;
  edgeSum: { value: number };
  scanEdges(start: number, limit: number, nodeFields: number, nodeCount: number): number;
  scanNodes(start: number, limit: number, fieldCount: number): number;
  scanNumbers(start: number, limit: number, fieldCount: number): number;
  countCommas(start: number, end: number): number;
  scanStrings(start: number, end: number, limit: number, base: number): number;
}

/** The part of the API that is used here. Node's types don't include it, only those of the browser. */
interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
  CompileError: new () => Error;
}

const api = (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;
let compiled: object | undefined;
const kernels = new WeakMap<ArrayBufferLike, ScanKernel>();

export class ScanKernel {
  readonly code: Exports;
  /** Buffer into which bytes are read: `windowBytes`, and NUL bytes. */
  readonly window: Buffer;
  readonly #memory: ArrayBuffer;

  constructor() {
    compiled ??= new api!.Module(Buffer.from(scanCode, 'base64'));
    this.code = new api!.Instance(compiled).exports as Exports;
    this.#memory = this.code.memory.buffer;
    this.window = Buffer.from(this.#memory, this.code.windowAt.value, windowBytes + sentinelBytes);
    kernels.set(this.#memory, this);
  }

  /**
   * A window to scan in. It is plain memory if WebAssembly can't allocate (limited address space, `--jitless`) or can't run
   * the loops (processors, often emulated ones, without SIMD).
   */
  static window(): Buffer {
    try {
      if (api) return new ScanKernel().window;
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof api!.CompileError)) throw error;
    }
    return Buffer.alloc(windowBytes + sentinelBytes);
  }

  /** The kernel whose window contains the bytes. */
  static over(bytes: Uint8Array): ScanKernel | undefined {
    return kernels.get(bytes.buffer);
  }

  /** A table below the window, to be filled by the caller. */
  table(at: Constant, length: number): Uint8Array {
    return new Uint8Array(this.#memory, at.value, length);
  }

  wordTable(at: Constant, length: number): Uint32Array {
    return new Uint32Array(this.#memory, at.value, length);
  }

  bytes(offset: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory, this.code.outAt.value + offset, length);
  }

  halves(offset: number, length: number): Uint16Array {
    return new Uint16Array(this.#memory, this.code.outAt.value + offset, length);
  }

  words(offset: number, length: number): Uint32Array {
    return new Uint32Array(this.#memory, this.code.outAt.value + offset, length);
  }

  doubles(offset: number, length: number): Float64Array {
    return new Float64Array(this.#memory, this.code.outAt.value + offset, length);
  }
}
