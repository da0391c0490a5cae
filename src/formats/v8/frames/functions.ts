/** SharedFunctionInfo: what all closures of one function literal have in common. */
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { doubtText, findString } from '../strings.ts';
import { measureParameters, parseParameterNames } from './parameter-names.ts';
import { findScopeInfo, type ScopeInfo } from './scope-info.ts';
import type { Script, Scripts } from './script.ts';

export interface FunctionInfo {
  /** As written, or as V8 inferred it from an assignment; empty for anonymous functions. */
  name: string;
  /** Absent for V8's own functions. */
  script?: Script;
  /** UTF-16 offsets in the script, from the parameters to the closing brace. */
  start?: number;
  end?: number;
  /** Parsed from the source: `{…}` for a pattern, `...rest`. Empty without source. */
  parameters: string[];
  scopeInfo?: ScopeInfo;
  /** The constructor of a class: only called by `new` and `super()`. */
  isClass?: boolean;
  /** Why the name, or the script's, may not be right. */
  doubt?: string;
}

const maxNameLength = 512;
/** What is in no name of a function or a file. */
const controls = /[\0-\x1f\x7f]/;
/** Node's own files, which have no hash to compare them with, have no such names. */
const notOfNode = /^node:(?![a-z0-9_/-]+$)/;
/** Offset in V8's DebugInfo. */
const debugInfoScript = 24;
/** The lowest bits of a SharedFunctionInfo's flags. */
const functionKindMask = 31;
/** In V8's enum FunctionKind: constructors of classes, of those with a base, and those that V8 adds. */
const classKinds = [3, 4, 5, 6];
/** Characters from the opening parenthesis. */
const longestParameters = 2000;

export class Functions {
  readonly #heap: V8Heap;
  readonly #scripts: Scripts;
  readonly #known = new Map<Tagged, FunctionInfo | undefined>();

  constructor(heap: V8Heap, scripts: Scripts) {
    this.#heap = heap;
    this.#scripts = scripts;
  }

  /** For a closure; undefined for any other value. */
  ofClosure(value: Tagged): FunctionInfo | undefined {
    if (!this.#heap.isFunction(value)) return undefined;
    return this.ofShared(this.#heap.field(value, this.#heap.layout.functionObject.shared));
  }

  ofShared(value: Tagged): FunctionInfo | undefined {
    if (!this.#known.has(value)) this.#known.set(value, this.#read(value));
    return this.#known.get(value);
  }

  /** The SharedFunctionInfo of a literal in optimised code, which V8 13 wraps. */
  unwrapShared(value: Tagged): Tagged {
    const { types } = this.#heap.layout;
    return this.#heap.isType(value, types.sharedWrapper) ? this.#heap.field(value, 8) : value;
  }

  /** Where a function begins in its script: at its parameters, or at the class that has no constructor. */
  startOf(value: Tagged): { script: Script; start: number } | undefined {
    const heap = this.#heap;
    const { types, shared } = heap.layout;
    if (!heap.isType(value, types.shared)) return undefined;
    const script = this.#scripts.find(this.#scriptOf(heap.field(value, shared.script)));
    const scope = findScopeInfo(heap, heap.field(value, shared.name));
    const start = scope?.start ?? this.#uncompiledRange(value)?.start;
    return script && start !== undefined ? { script, start } : undefined;
  }

  /** The function's bytecode, even if baseline code replaced it in its slot. */
  findBytecodes(value: Tagged): Tagged | undefined {
    const heap = this.#heap;
    const { types, shared, code } = heap.layout;
    if (!heap.isType(value, types.shared)) return undefined;
    for (const offset of shared.data) {
      let data = heap.field(value, offset);
      if (heap.isType(data, types.code)) data = heap.field(data, code.deoptimizationData);
      if (heap.isType(data, types.interpreterData)) data = heap.field(data, 8);
      if (heap.isType(data, types.bytecodeArray)) return data;
    }
    return undefined;
  }

  /** Whether a debugger or coverage has put its own record in place of the script. */
  isDebugged(value: Tagged): boolean {
    const { types, shared } = this.#heap.layout;
    return this.#heap.isType(this.#heap.field(value, shared.script), types.debugInfo);
  }

  #read(value: Tagged): FunctionInfo | undefined {
    const heap = this.#heap;
    const { types, shared } = heap.layout;
    if (!heap.isType(value, types.shared)) return undefined;
    const nameOrScope = heap.field(value, shared.name);
    const scopeInfo = findScopeInfo(heap, nameOrScope);
    const declared = scopeInfo ? scopeInfo.functionName : findString(heap, nameOrScope, maxNameLength);
    const script = this.#scripts.find(this.#scriptOf(heap.field(value, shared.script)));
    const name = this.#findInitializerName(value) ?? (declared || scopeInfo?.inferredName || '');
    const info: FunctionInfo = { name, parameters: [] };
    if (script) info.script = script;
    if (scopeInfo) info.scopeInfo = scopeInfo;
    if (classKinds.includes(this.#kindOf(value))) info.isClass = true;
    const nameDoubt = scopeInfo ? scopeInfo.nameDoubt : doubtText(heap, nameOrScope);
    const doubt = nameDoubt ? `a name ${nameDoubt}` : script?.doubt;
    if (doubt) info.doubt = doubt;
    else if (controls.test(info.name) || controls.test(script?.name ?? ''))
      info.doubt = 'a name has control characters';
    else if (notOfNode.test(script?.name ?? ''))
      info.doubt = "a file's name is not like those of Node's own files";
    const range = scopeInfo?.start === undefined ? this.#uncompiledRange(value) : scopeInfo;
    if (range?.start !== undefined && range.end !== undefined) {
      info.start = range.start;
      info.end = range.end;
      const end = Math.min(info.end, info.start + longestParameters);
      const source = script && this.#scripts.findText(script, info.start, end, measureParameters);
      if (source !== undefined) info.parameters = parseParameterNames(source);
    }
    return info;
  }

  /**
   * The function that sets a class's fields, or runs its static blocks: since V8 11.8 it has the name of its class in memory, and
   * V8 names it by its kind.
   */
  #findInitializerName(value: Tagged): string | undefined {
    const { layout } = this.#heap;
    const kind = this.#kindOf(value);
    if (layout.initializerKinds.instance.includes(kind)) return '<instance_members_initializer>';
    return layout.initializerKinds.static.includes(kind) ? '<static_initializer>' : undefined;
  }

  #kindOf(value: Tagged): number {
    const { memory, layout } = this.#heap;
    return memory.readUint32(value - 1 + layout.shared.flags) & functionKindMask;
  }

  /** For a function that was never called, or whose code was flushed after a long time without calls. */
  #uncompiledRange(value: Tagged): { start: number; end: number } | undefined {
    const heap = this.#heap;
    const { shared, uncompiled, instanceTypes } = heap.layout;
    for (const offset of shared.data) {
      const data = heap.field(value, offset);
      const type = heap.findType(data);
      if (type === undefined || !instanceTypes.get(type)?.startsWith('UNCOMPILED_DATA')) continue;
      const start = heap.memory.readInt32(data - 1 + uncompiled.start);
      const end = heap.memory.readInt32(data - 1 + uncompiled.end);
      return start >= 0 && end >= start ? { start, end } : undefined;
    }
    return undefined;
  }

  /**
   * A debugger or coverage puts its own record between function and script (up to V8 11, behind the function and its flags).
   */
  #scriptOf(value: Tagged): Tagged {
    const heap = this.#heap;
    return heap.isType(value, heap.layout.types.debugInfo) ? heap.field(value, debugInfoScript) : value;
  }
}
