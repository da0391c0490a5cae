/** Tells the kernel of each map, once: how its objects are marked, read and named. */
import type { V8Heap } from '../../heap/heap.ts';
import { isInternalized } from '../../strings.ts';
import type { Marking } from '../marking.ts';
import type { Names } from '../names.ts';
import { nodeTypes, type ObjectKinds } from '../object-kinds.ts';
import type { HeapObjects } from '../objects/heap-objects.ts';
import type { ReferenceReader } from '../references.ts';
import { isTaggedArray } from '../tags.ts';
import { byReader, ConstantFlag, type HeapKernel, MapFlag, NodeWay } from './heap-kernel.ts';

const wayOfReader = 4;
const firstNonString = 0x80;

/** How a string is stored, in the lowest bits of its type: with its characters, which may have one byte each. */
const [storageMask, sequential, oneByte] = [7, 0, 8];

interface KnownOfHeap {
  heap: V8Heap;
  objects: HeapObjects;
  kinds: ObjectKinds;
  names: Names;
  references: ReferenceReader;
}

/** Must be called before the first walk of the kernel. */
export function teachMaps(kernel: HeapKernel, known: KnownOfHeap, marking: Marking): void {
  const { heap, objects, kinds, names, references } = known;
  const { mapRoom, indexRoom } = kernel.code;
  const [ways, flags] = [kernel.bytes('ways', mapRoom.value), kernel.bytes('flags', mapRoom.value)];
  const programs = kernel.words('programs', mapRoom.value);
  const [nodeWays, nodeTypesOf] = [
    kernel.bytes('nodeWays', mapRoom.value),
    kernel.bytes('nodeTypes', mapRoom.value),
  ];
  const indexes = kernel.words('indexes', indexRoom.value);
  const sizeless = objects.sizelessMaps();
  const stringType = nodeTypes.indexOf('string');
  const { types } = heap.layout;
  teachConstants(kernel, objects, references);
  kernel.answers.learnMap = (object) => {
    const number = objects.mapOf(object);
    if (number >= mapRoom.value) return -1;
    const type = objects.maps.types[number]!;
    ways[number] = marking.kernelWay(number);
    flags[number] =
      (type === types.fixedArray ? MapFlag.fixedArray : kinds.isFixedArray(type) ? MapFlag.otherFixed : 0) |
      (isTaggedArray(kinds, type) ? MapFlag.taggedArray : 0) |
      (type === types.map ? MapFlag.map : 0) |
      (type > types.jsProxy - 1 ? MapFlag.receiver : 0);
    const isPlainText = type < firstNonString && (type & storageMask) === sequential && !isInternalized(type);
    if (isPlainText && !names.hasValues) {
      nodeTypesOf[number] = stringType;
      nodeWays[number] = (type & oneByte) !== 0 ? NodeWay.oneByte : NodeWay.twoByte;
    }
    if (sizeless.has(number)) {
      ways[number] = wayOfReader;
      programs[number] = byReader;
      nodeWays[number] = NodeWay.reader;
    }
    const { words } = objects;
    kernel.code.putMap(words.low(object), words.high(object), number);
    return number;
  };
  kernel.answers.learnIndex = (index) => {
    const name = names.ofIndex(index);
    if (index < indexes.length) indexes[index] = name + 1;
    return name;
  };
}

function teachConstants(kernel: HeapKernel, objects: HeapObjects, references: ReferenceReader): void {
  const { inessential, isHole } = references.constants();
  const flags = kernel.bytes('constants', inessential.length);
  for (let object = objects.next(objects.firstReadOnly); object >= 0; object = objects.next(object + 1)) {
    const slot = object - objects.firstReadOnly;
    flags[slot] =
      (inessential[slot] === 1 ? ConstantFlag.inessential : 0) | (isHole(object) ? ConstantFlag.hole : 0);
  }
}
