/**
 * Field offsets in the objects of one V8 version: from V8's own metadata, and for the rest from a table with a row per V8
 * line (layout-rows.ts). Official builds of Node have no pointer compression and no sandbox.
 */

import type { V8Metadata } from '../metadata.ts';
import { graphLines, type LayoutRow, layoutRows, provenLines } from './layout-rows.ts';

export type V8Layout = ReturnType<typeof resolveLayout>;

export interface V8Version {
  major: number;
  minor: number;
}

/** The same layout for V8 on arm64, whose constants do not tell this difference. */
export function onArm64(layout: V8Layout): V8Layout {
  return { ...layout, code: { ...layout.code, alignments: [32] } };
}

/** Undefined for a V8 older than the first row. Throws `unsupported-version` if the metadata lacks a field. */
export function findLayout(metadata: V8Metadata, version: V8Version): V8Layout | undefined {
  const line = version.major * 100 + version.minor;
  const row = layoutRows.findLast((candidate) => candidate.from <= line);
  return row && resolveLayout(metadata, row, line);
}

/** The version with exactly these constants, if it is a tested one. */
export function findProvenVersion(metadata: V8Metadata): V8Version | undefined {
  const digest = metadata.digest();
  for (const [line, digests] of provenLines)
    if (digests.includes(digest)) return { major: Math.floor(line / 100), minor: line % 100 };
  return undefined;
}

/** Uses the row that the caller has chosen. Throws like `findLayout`. */
export function resolveLayout(m: V8Metadata, row: LayoutRow, line: number) {
  const field = (name: string) => m.field(name);
  // Only needed for the graph of a heap, which is only read for lines that are known to have these fields (`graphLines`).
  const graphField = (name: string) => m.findField(name) ?? 0;
  const isBefore11 = line < 1100;
  const graphType = (name: string) => m.findType(name) ?? -1;
  return {
    line,
    isProven: provenLines.has(line),
    hasProvenConstants: provenLines.get(line)?.includes(m.digest()) ?? false,
    isGraphProven: graphLines.has(line),
    instanceTypes: m.instanceTypes(),
    frameTypes: m.frameTypes(),
    map: {
      instanceSizeInWords: field('Map.instance_size_in_words'),
      inObjectStart: field('Map.inobject_properties_start_or_constructor_function_index'),
      instanceType: field('Map.instance_type'),
      bitField: field('Map.bit_field'),
      bitField2: field('Map.bit_field2'),
      bitField3: field('Map.bit_field3'),
      prototype: field('Map.prototype'),
      constructorOrBack: field('Map.constructor_or_back_pointer'),
      dependentCode: graphField('Map.dependent_code'),
      transitions: graphField('Map.raw_transitions'),
      descriptors: field('Map.instance_descriptors'),
      descriptorCountShift: m.constant('bit_field3_number_of_own_descriptors_shift'),
      descriptorCountMask: m.constant('bit_field3_number_of_own_descriptors_mask'),
      isDictionaryShift: m.constant('bit_field3_is_dictionary_map_shift'),
      elementsKindShift: m.constant('bit_field2_elements_kind_shift'),
      elementsKindMask: m.constant('bit_field2_elements_kind_mask'),
    },
    descriptors: {
      header: field('DescriptorArray.header_size'),
      entryWords: m.constant('prop_desc_size'),
      key: m.constant('prop_desc_key'),
      details: m.constant('prop_desc_details'),
      value: m.constant('prop_desc_value'),
      indexShift: m.constant('prop_index_shift'),
      indexMask: m.constant('prop_index_mask'),
      locationMask: m.constant('prop_location_mask'),
      kindMask: m.constant('prop_kind_mask'),
      representationShift: m.constant('prop_representation_shift'),
      representationMask: m.constant('prop_representation_mask'),
      double: m.constant('prop_representation_double'),
    },
    string: {
      hash: field('String.length') - 4,
      length: field('String.length'),
      chars: field('SeqOneByteString.chars'),
      consFirst: field('ConsString.first'),
      consSecond: field('ConsString.second'),
      slicedParent: field('SlicedString.offset') - 8,
      slicedOffset: field('SlicedString.offset'),
      thinActual: field('ThinString.actual'),
      externalData: field('ExternalString.resource') + 8,
    },
    fixedArray: { length: field('FixedArrayBase.length'), data: field('FixedArray.data') },
    /** Free space counts in bytes as long as V8 describes the type, and in words since. */
    freeSpaceUnit: m.findType('FREE_SPACE') === undefined ? 8 : 1,
    dictionary: {
      start: m.constant('namedictionary_prefix_start_index') + m.constant('namedictionaryshape_prefix_size'),
      entryWords: m.constant('namedictionaryshape_entry_size'),
    },
    oddballs: {
      false: m.constant('OddballFalse'),
      true: m.constant('OddballTrue'),
      null: m.constant('OddballNull'),
      undefined: m.constant('OddballUndefined'),
    },
    typedArray: {
      byteLength: field('JSArrayBufferView.byte_length'),
      byteOffset: graphField('JSArrayBufferView.byte_offset'),
      // Since V8 13 the flags are between buffer and offset; before that they followed the length.
      buffer: graphField('JSArrayBufferView.byte_offset') - (line < 1300 ? 8 : 16),
      flags:
        line < 1300
          ? field('JSArrayBufferView.byte_length') + 8
          : graphField('JSArrayBufferView.byte_offset') - 8,
      basePointer: graphField('JSTypedArray.base_pointer'),
      externalPointer: graphField('JSTypedArray.external_pointer'),
    },
    arrayBuffer: {
      byteLength: graphField('JSArrayBuffer.byte_length'),
      backingStore: graphField('JSArrayBuffer.backing_store'),
    },
    date: { value: field('JSDate.value'), isBare: row.bareDates },
    regExpSource: field('JSRegExp.source'),
    promise: { result: 24, flags: 32, statusMask: 3 },
    bigInt: { bits: 8, digits: 16 },
    heapNumber: field('HeapNumber.value'),
    /** The kind of the marker for a missing element; absent since it has a type of its own. */
    oddballHole: m.findConstant('OddballTheHole'),
    oddballKind: m.findField('Oddball.kind') ?? field('Oddball.kind_offset'),
    symbolName: field('Symbol.name'),
    object: { properties: field('JSReceiver.raw_properties_or_hash'), elements: field('JSObject.elements') },
    array: { length: 24 },
    collectionTable: 24,
    weakRefTarget: 24,
    proxy: { target: 16, handler: 24 },
    boundFunction: { target: 24 },
    functionObject: {
      shared: field('JSFunction.shared'),
      context: field('JSFunction.context'),
      feedbackCell: graphField('JSFunction.raw_feedback_cell'),
      /** Absent since V8 13, where functions contain a dispatch handle instead. */
      code:
        m.findField('JSFunction.code') ??
        (line < 1200 ? graphField('JSFunction.raw_feedback_cell') + 8 : undefined),
      prototypeOrMap: graphField('JSFunction.prototype_or_initial_map'),
    },
    shared: {
      data: row.functionData,
      name: field('SharedFunctionInfo.name_or_scope_info'),
      script: m.findField('SharedFunctionInfo.script') ?? field('SharedFunctionInfo.script_or_debug_info'),
      parameterCount: field('SharedFunctionInfo.internal_formal_parameter_count'),
      tokenOffset: field('SharedFunctionInfo.raw_function_token_offset'),
      flags: field('SharedFunctionInfo.flags'),
    },
    initializerKinds: row.initializerKinds,
    uncompiled: {
      start: field('UncompiledData.start_position'),
      end: field('UncompiledData.end_position'),
      inferredName: field('UncompiledData.inferred_name'),
    },
    script: {
      source: field('Script.source'),
      name: field('Script.name'),
      lineOffset: field('Script.name') + 8,
      columnOffset: field('Script.name') + 16,
      lineEnds: field('Script.line_ends'),
      id: field('Script.line_ends') + 8,
      evalFrom: m.findField('Script.eval_from_shared_or_wrapped_arguments'),
    },
    bytecode: {
      length: field('FixedArrayBase.length'),
      positions: row.bytecodePositions,
      data: field('BytecodeArray.data'),
    },
    code: {
      deoptimizationData: row.codeDeoptimizationData,
      positions: row.codePositions,
      flags: m.findField('Code.flags') ?? row.codeFlags,
      kindMask: m.constant('CodeKindFieldMask'),
      baseline: m.constant('CodeKindBaseline'),
      instructionSize: m.findField('Code.instruction_size') ?? row.codeInstructionSize,
      safepointHeader: row.safepointHeader,
      /** The longer header begins with the number of the frame's slots, which before were in the flags. */
      hasSlotsInTable: row.safepointHeader > 8,
      stream: 32,
      entry: 40,
      /** To which the size of instructions is rounded up: one of these, on x86-64. */
      alignments: [64, 32] as readonly number[],
      /** Up to V8 10, a Code contains its instructions itself. */
      streamCode: isBefore11 ? undefined : 8,
      streamStart: field(isBefore11 ? 'Code.instruction_start' : 'InstructionStream.instruction_start'),
    },
    // V8 10.1 to 10.7 do not describe it.
    deoptimization:
      line < 1008
        ? { literals: 2, inliningPositions: 7, shared: 6 }
        : {
            literals: m.constant('DeoptimizationDataLiteralArrayIndex'),
            inliningPositions: m.constant('DeoptimizationDataInliningPositionsIndex'),
            shared:
              m.findConstant('DeoptimizationDataSharedFunctionInfoIndex') ??
              m.findConstant('DeoptimizationDataSharedFunctionInfoWrapperIndex') ??
              m.constant('DeoptimizationDataWrappedSharedFunctionInfoIndex'),
          },
    scopeInfo: {
      parameterCount: 8 + 8 * m.constant('scopeinfo_idx_nparams'),
      localCount: 8 + 8 * m.constant('scopeinfo_idx_ncontextlocals'),
      variables: 8 * m.constant('scopeinfo_idx_first_vars'),
      /** Since V8 13 the position is in fixed slots. */
      hasFixedPosition: m.constant('scopeinfo_idx_first_vars') === 5,
    },
    context: {
      data: field('FixedArray.data'),
      scopeInfo: m.constant('context_idx_scope_info'),
      previous: m.constant('context_idx_prev'),
      minSlots: m.constant('context_min_slots'),
    },
    frame: {
      context: m.constant('off_fp_context_or_frame_type'),
      function: m.constant('off_fp_function'),
      bytecodeArray: m.constant('off_fp_bytecode_array'),
      bytecodeOffset: m.constant('off_fp_bytecode_offset'),
      argumentCount: m.constant('off_fp_function') - 8,
      receiver: m.constant('off_fp_args'),
    },
    interpreterFrame: row.interpreterFrame,
    generator: {
      function: 24,
      context: 32,
      receiver: 40,
      inputOrPosition: 48,
      continuation: 64,
      registers: 72,
      /** Of an async function; of an async generator its first request. */
      promise: 80,
    },
    generatorRequest: { promise: 32 },
    positions: { unsignedDeltas: row.unsignedPositionDeltas },
    translation: row.translation,
    signedOpcodes: row.signedOpcodes ?? false,
    signedHeights: row.signedHeights,
    page: row.page,
    types: {
      map: m.type('MAP'),
      context: [m.constant('FirstContextType'), m.constant('LastContextType')] as const,
      function: [
        m.findConstant('FirstJSFunctionType') ?? m.type('JS_FUNCTION'),
        m.findConstant('LastJSFunctionType') ?? row.lastFunctionType,
      ] as const,
      boundFunction: m.type('JS_BOUND_FUNCTION'),
      shared: m.type('SHARED_FUNCTION_INFO'),
      sharedWrapper: m.findType('SHARED_FUNCTION_INFO_WRAPPER'),
      script: m.type('SCRIPT'),
      scopeInfo: m.type('SCOPE_INFO'),
      bytecodeArray: m.type('BYTECODE_ARRAY'),
      byteArray: m.type('BYTE_ARRAY'),
      trustedByteArray: m.findType('TRUSTED_BYTE_ARRAY'),
      code: m.type('CODE'),
      instructionStream: m.type(isBefore11 ? 'CODE' : 'INSTRUCTION_STREAM'),
      fixedArray: m.type('FIXED_ARRAY'),
      fixedDoubleArray: m.type('FIXED_DOUBLE_ARRAY'),
      weakFixedArray: m.findType('WEAK_FIXED_ARRAY'),
      feedbackVector: m.type('FEEDBACK_VECTOR'),
      /**
       * Neighbours in V8's numbering, whose types V8 does not describe in every line: FeedbackMetadata, Filler, FreeSpace.
       */
      feedbackMetadata: m.type('FEEDBACK_VECTOR') - 1,
      freeSpace: m.findType('FREE_SPACE') ?? m.type('FEEDBACK_VECTOR') + 2,
      preparseData: m.type('PREPARSE_DATA'),
      heapNumber: m.type('HEAP_NUMBER'),
      oddball: m.type('ODDBALL'),
      wasmNull: m.findType('WASM_NULL'),
      hole: m.findType('HOLE') ?? (line >= 1400 ? m.type('FEEDBACK_VECTOR') + 3 : undefined),
      symbol: m.type('SYMBOL'),
      /** Between SYMBOL and HEAP_NUMBER, and not described. */
      bigInt: m.type('SYMBOL') + 1,
      contextCell: m.findType('CONTEXT_CELL'),
      propertyArray: m.type('PROPERTY_ARRAY'),
      descriptorArray: m.type('DESCRIPTOR_ARRAY'),
      promiseCapability: m.type('PROMISE_CAPABILITY'),
      globalProxy: m.type('JS_GLOBAL_PROXY'),
      globalObject: m.type('JS_GLOBAL_OBJECT'),
      debugInfo: m.type('DEBUG_INFO'),
      interpreterData: m.type('INTERPRETER_DATA'),
      asyncFunctionObject: m.type('JS_ASYNC_FUNCTION_OBJECT'),
      asyncGeneratorObject: m.type('JS_ASYNC_GENERATOR_OBJECT'),
      jsArray: m.type('JS_ARRAY'),
      jsMap: m.type('JS_MAP'),
      jsSet: m.type('JS_SET'),
      jsDate: m.type('JS_DATE'),
      jsError: m.type('JS_ERROR'),
      jsRegExp: m.type('JS_REG_EXP'),
      jsPromise: m.type('JS_PROMISE'),
      promiseReaction: m.type('PROMISE_REACTION'),
      jsTypedArray: m.type('JS_TYPED_ARRAY'),
      jsArrayBuffer: graphType('JS_ARRAY_BUFFER'),
      jsDataView: graphType('JS_DATA_VIEW'),
      jsResizableDataView: graphType('JS_RAB_GSAB_DATA_VIEW'),
      jsWeakMap: graphType('JS_WEAK_MAP'),
      jsWeakSet: graphType('JS_WEAK_SET'),
      jsWeakRef: graphType('JS_WEAK_REF'),
      accessorPair: graphType('ACCESSOR_PAIR'),
      lastTask: m.findType('PROMISE_RESOLVE_THENABLE_JOB_TASK'),
      propertyCell: graphType('PROPERTY_CELL'),
      jsProxy: m.type('JS_PROXY'),
    },
  };
}
