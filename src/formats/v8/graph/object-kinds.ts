/**
 * For each instance type: the name that V8's profiler gives such objects, and which of their words are references. Names are
 * derived from V8's own type names, so that types of newer V8 versions have a name too. Source:
 * src/profiler/heap-snapshot-generator.cc and src/objects/objects-body-descriptors-inl.h of V8.
 */
import type { V8Layout } from '../heap/object-layout.ts';

/** Node types in the numbering of V8's profiler. */
export const nodeTypes = [
  'hidden',
  'array',
  'string',
  'object',
  'code',
  'closure',
  'regexp',
  'number',
  'native',
  'synthetic',
  'concatenated string',
  'sliced string',
  'symbol',
  'bigint',
  'object shape',
] as const;

export type NodeTypeName = (typeof nodeTypes)[number];

/** Edge types in the numbering of V8's profiler. */
export const edgeTypes = [
  'context',
  'element',
  'property',
  'internal',
  'hidden',
  'shortcut',
  'weak',
] as const;

export const Edge = {
  context: 0,
  element: 1,
  property: 2,
  internal: 3,
  hidden: 4,
  shortcut: 5,
  weak: 6,
} as const;

/** A reference in a fixed field of an object. */
export interface NamedField {
  word: number;
  name: string;
  isWeak?: boolean;
}

/** How to read the words of an object. */
export type Shape =
  | 'plain'
  | 'raw'
  | 'js-object'
  | 'context'
  | 'map'
  | 'array'
  | 'weak-array'
  | 'descriptors'
  | 'ephemerons'
  | 'instructions'
  | 'code'
  | 'header';

export interface ObjectKind {
  shape: Shape;
  nodeType: NodeTypeName;
  /** Without details that V8 adds for single objects; empty for arrays, which are named by their use. */
  name: string;
  fields: readonly NamedField[];
}

const codeTypes =
  /^(?:ALLOCATION_SITE|ARRAY_BOILERPLATE_DESCRIPTION|BYTECODE_ARRAY|BYTECODE_WRAPPER|CLOSURE_FEEDBACK_CELL_ARRAY|CODE|CODE_WRAPPER|FEEDBACK_CELL|FEEDBACK_METADATA|FEEDBACK_VECTOR|INSTRUCTION_STREAM|INTERPRETER_DATA|LOAD_HANDLER|STORE_HANDLER|OBJECT_BOILERPLATE_DESCRIPTION|PREPARSE_DATA|REG_EXP_BOILERPLATE_DESCRIPTION|SCOPE_INFO|SCRIPT|SHARED_FUNCTION_INFO|TEMPLATE_OBJECT_DESCRIPTION|UNCOMPILED_DATA\w*|TRUSTED_BYTE_ARRAY|TRUSTED_FIXED_ARRAY)$/;
const shapeTypes =
  /^(?:DESCRIPTOR_ARRAY|STRONG_DESCRIPTOR_ARRAY|TRANSITION_ARRAY|PROTOTYPE_INFO|ENUM_CACHE)$/;
/** Types without references. */
const rawTypes =
  /^(?:HEAP_NUMBER|BIGINT|BYTE_ARRAY|TRUSTED_BYTE_ARRAY|FIXED_DOUBLE_ARRAY|FOREIGN|TRUSTED_FOREIGN|FEEDBACK_METADATA|CLASS_POSITIONS|COVERAGE_INFO|WASM_NULL)$/;
/** Types in which only the first words are references. */
const headerTypes: Readonly<Record<string, number>> = { BYTECODE_ARRAY: 6, CODE: 5 };

/** Number of words before the raw data of a type that has both. */
export const headerWords = (typeName: string): number => headerTypes[typeName] ?? 0;

/** Before V8 12 some arrays were fixed arrays, and had no names of their own. */
const linesOfNamedArrays = 1200;
/** Their types, which V8's metadata lacks, by the distance to the type of byte arrays. */
const arraysBeforeByteArray: Readonly<Record<number, string>> = {
  2: 'OBJECT_BOILERPLATE_DESCRIPTION',
  3: 'CLOSURE_FEEDBACK_CELL_ARRAY',
  9: 'NUMBER_DICTIONARY',
  11: 'NAME_DICTIONARY',
};

/** Types of objects that C++ creates: part of V8's binary interface (include/v8-internal.h), the same in all of its versions. */
const specialApiObject = 0x410;
const apiObjects = [0x422, 0x80a] as const;

type FieldTable = Readonly<Record<string, readonly NamedField[]>>;

const at = (word: number, name: string, more: Partial<NamedField> = {}): NamedField => ({
  word,
  name,
  ...more,
});

const fieldsOfTypes: FieldTable = {
  ACCESSOR_INFO: [at(1, 'name'), at(2, 'data')],
  ACCESSOR_PAIR: [at(1, 'getter'), at(2, 'setter')],
  ALLOCATION_SITE: [
    at(1, 'transition_info'),
    at(2, 'nested_site'),
    at(3, 'dependent_code'),
    at(5, 'weak_next', { isWeak: true }),
  ],
  ARRAY_BOILERPLATE_DESCRIPTION: [at(2, 'constant_elements')],
  CELL: [at(1, 'value')],
  FEEDBACK_CELL: [at(1, 'value')],
  PROPERTY_CELL: [at(3, 'value'), at(4, 'dependent_code')],
  ENUM_CACHE: [],
  JS_WEAK_REF: [at(3, 'target', { isWeak: true })],
  JS_MAP: [at(3, 'table')],
  JS_SET: [at(3, 'table')],
  JS_WEAK_MAP: [at(3, 'table')],
  JS_WEAK_SET: [at(3, 'table')],
  JS_PROMISE: [at(3, 'reactions_or_result')],
  JS_GLOBAL_OBJECT: [at(4, 'global_proxy')],
  JS_BOUND_FUNCTION: [at(5, 'bindings'), at(4, 'bound_this'), at(3, 'bound_function')],
  GENERATOR: [at(3, 'function'), at(4, 'context'), at(5, 'receiver'), at(9, 'parameters_and_registers')],
  INSTRUCTION_STREAM: [at(1, 'code'), at(2, 'relocation_info')],
};

export class ObjectKinds {
  readonly #layout: V8Layout;
  readonly #byType = new Map<number, ObjectKind>();
  readonly #ephemerons: ReadonlySet<number>;
  readonly #nativeContexts: ReadonlySet<number>;

  /** Instance types of the tables of weak maps and sets, and of the contexts of realms, as found in the heap. */
  constructor(layout: V8Layout, ephemerons: ReadonlySet<number>, nativeContexts: ReadonlySet<number>) {
    this.#layout = layout;
    this.#ephemerons = ephemerons;
    this.#nativeContexts = nativeContexts;
  }

  of(type: number): ObjectKind {
    const known = this.#byType.get(type);
    if (known) return known;
    const kind = this.#describe(type);
    this.#byType.set(type, kind);
    return kind;
  }

  typeName(type: number): string {
    const { types, instanceTypes } = this.#layout;
    const known = instanceTypes.get(type);
    if (known !== undefined) return known;
    if (type === types.bigInt) return 'BIGINT';
    if (type === types.feedbackMetadata) return 'FEEDBACK_METADATA';
    if (type === types.hole) return 'HOLE';
    // Types that V8's metadata lacks are numbered after types that it describes.
    const fromByteArray = this.#layout.line < linesOfNamedArrays ? types.byteArray - type : 0;
    if (fromByteArray > 0 && arraysBeforeByteArray[fromByteArray])
      return arraysBeforeByteArray[fromByteArray];
    const handlers = type - (types.lastTask ?? type);
    if (handlers === 1) return 'LOAD_HANDLER';
    if (handlers === 2) return 'STORE_HANDLER';
    const weakArray = types.weakFixedArray;
    if (weakArray !== undefined && type === weakArray + 1) return 'TRANSITION_ARRAY';
    return '';
  }

  isNativeContext(type: number): boolean {
    return this.#nativeContexts.has(type);
  }

  /** Whether V8 keeps such objects in a list that does not keep them alive. */
  isListed(type: number): boolean {
    return this.isNativeContext(type) || this.typeName(type) === 'ALLOCATION_SITE';
  }

  /** Whether C++ can attach an object of its own to such objects. */
  isWrapper(type: number): boolean {
    return type === specialApiObject || (type >= apiObjects[0] && type <= apiObjects[1]);
  }

  isJsObject(type: number): boolean {
    return type > this.#layout.types.jsProxy;
  }

  isFixedArray(type: number): boolean {
    const { types } = this.#layout;
    const end = Math.min(types.context[0], types.byteArray > types.fixedArray ? types.byteArray : Infinity);
    return type >= types.fixedArray && type < end;
  }

  #describe(type: number): ObjectKind {
    const { types } = this.#layout;
    const typeName = this.typeName(type);
    const fields = this.#fieldsOf(type, typeName);
    const kind = (shape: Shape, nodeType: NodeTypeName, name: string): ObjectKind => ({
      shape,
      nodeType,
      name,
      fields,
    });
    if (type < 0x80) {
      if ((type & 7) === 1) return kind('plain', 'concatenated string', '(concatenated string)');
      if ((type & 7) === 3) return kind('plain', 'sliced string', '(sliced string)');
      return kind((type & 7) === 5 ? 'plain' : 'raw', 'string', '');
    }
    if (this.isJsObject(type)) {
      const [first, last] = types.function;
      const isFunction = (type >= first && type <= last) || type === types.boundFunction;
      return kind('js-object', isFunction ? 'closure' : type === types.jsRegExp ? 'regexp' : 'object', '');
    }
    if (this.isNativeContext(type)) return kind('context', 'hidden', 'system / NativeContext');
    if (type >= types.context[0] && type <= types.context[1])
      return kind('context', 'object', 'system / Context');
    if (type === types.map) return kind('map', 'object shape', 'system / Map');
    if (type === types.symbol) return kind('plain', 'symbol', 'symbol');
    if (type === types.bigInt) return kind('raw', 'bigint', 'bigint');
    if (type === types.heapNumber) return kind('raw', 'number', 'heap number');
    if (this.#ephemerons.has(type)) return kind('ephemerons', 'array', '');
    if (this.isFixedArray(type)) return kind('array', codeTypes.test(typeName) ? 'code' : 'array', '');
    if (type === types.fixedDoubleArray || type === types.byteArray) return kind('raw', 'array', '');
    const name = `system / ${camelCase(typeName || `type ${type}`)}`;
    const isCode = codeTypes.test(typeName) && !(this.#layout.line < 1300 && /_WRAPPER$/.test(typeName));
    const nodeType = isCode ? 'code' : shapeTypes.test(typeName) ? 'object shape' : 'hidden';
    if (rawTypes.test(typeName)) return kind('raw', nodeType, name);
    if (type === types.code) return kind('code', nodeType, name);
    if (typeName === 'INSTRUCTION_STREAM') return kind('instructions', nodeType, name);
    if (headerWords(typeName) > 0) return kind('header', nodeType, name);
    if (/^(?:STRONG_)?DESCRIPTOR_ARRAY$/.test(typeName)) return kind('descriptors', nodeType, name);
    if (/^(?:WEAK_FIXED_ARRAY|WEAK_ARRAY_LIST|DEPENDENT_CODE)$/.test(typeName))
      return kind('weak-array', nodeType, typeName === 'DEPENDENT_CODE' ? 'system / WeakArrayList' : name);
    return kind('plain', nodeType, name);
  }

  #fieldsOf(type: number, typeName: string): readonly NamedField[] {
    const layout = this.#layout;
    const { types, string } = layout;
    const word = (offset: number, name: string, more?: Partial<NamedField>) => at(offset / 8, name, more);
    if (type < 0x80) {
      if ((type & 7) === 1) return [word(string.consFirst, 'first'), word(string.consSecond, 'second')];
      if ((type & 7) === 3) return [word(string.slicedParent, 'parent')];
      return (type & 7) === 5 ? [word(string.thinActual, 'actual')] : [];
    }
    // Before V8 12, Code had what InstructionStream has now.
    if (type === types.code && this.#layout.line < linesOfNamedArrays) return [at(1, 'relocation_info')];
    if (type === types.instructionStream && this.#layout.line < linesOfNamedArrays) return [];
    const [first, last] = types.function;
    if (type >= first && type <= last) {
      const { shared, context, feedbackCell, code } = layout.functionObject;
      return [
        word(feedbackCell, 'feedback_cell'),
        word(shared, 'shared'),
        word(context, 'context'),
        ...(code === undefined ? [] : [word(code, 'code')]),
      ];
    }
    if (type === types.jsTypedArray || typeName === 'JS_DATA_VIEW')
      return [word(layout.typedArray.buffer, 'buffer')];
    if (typeName === 'WEAK_CELL') {
      // Since V8 14 the held value precedes them.
      const target = layout.line < 1400 ? 2 : 3;
      return [at(target, 'target', { isWeak: true }), at(target + 1, 'unregister_token', { isWeak: true })];
    }
    if (type === types.symbol) return [word(layout.symbolName, 'name')];
    if (type === types.shared)
      return [
        word(layout.shared.name, 'name_or_scope_info'),
        word(layout.shared.script, layout.line < 1200 ? 'script_or_debug_info' : 'script'),
        ...layout.shared.data.map((offset, i) =>
          word(
            offset,
            layout.shared.data.length === 1
              ? 'function_data'
              : i === 0
                ? 'trusted_function_data'
                : 'untrusted_function_data',
          ),
        ),
        word(layout.shared.name + 8, 'raw_outer_scope_info_or_feedback_metadata'),
      ];
    if (type === types.script)
      return [
        word(layout.script.source, 'source'),
        word(layout.script.name, 'name'),
        word(layout.script.columnOffset + 8, 'context_data'),
        word(layout.script.id - 8, 'line_ends'),
      ];
    if (
      // Plain generators come directly before it in V8's numbering, and are missing in its metadata.
      type === types.asyncFunctionObject - 1 ||
      type === types.asyncFunctionObject ||
      type === types.asyncGeneratorObject ||
      /GENERATOR/.test(typeName)
    )
      return fieldsOfTypes['GENERATOR']!;
    return fieldsOfTypes[typeName] ?? [];
  }
}

/** `REG_EXP_DATA_WRAPPER` becomes `RegExpDataWrapper`, `JS_PROXY` becomes `JSProxy`. */
export function camelCase(typeName: string): string {
  return typeName
    .split('_')
    .map((word) => (word === 'JS' ? word : word.slice(0, 1) + word.slice(1).toLowerCase()))
    .join('');
}
