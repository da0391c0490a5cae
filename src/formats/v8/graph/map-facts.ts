/** What a map records about its objects, read once per map: locations and names of their properties. */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged, V8Heap } from '../heap/heap.ts';
import type { Names } from './names.ts';

export interface DescribedProperty {
  /** Text numbers. */
  name: number;
  getter: number;
  setter: number;
  isAccessor: boolean;
  /** A number in an object of its own, which V8's profiler does not name. */
  isNumber?: boolean;
  /** Location of the value: a word of the object, a word of its property array, or in the descriptors of the map. */
  inObject?: number;
  inArray?: number;
  constant?: Tagged;
}

export interface MapFacts {
  isDictionary: boolean;
  properties: readonly DescribedProperty[];
  prototype: Tagged;
  /** For functions: whether they have a field for their prototype. */
  hasPrototypeSlot: boolean;
  elementsKind: number;
}

const prototypeSlotBit = 0x80;
/** How a field is stored, in the bits of its details after the location. */
const representationMask = 7;
const [smi, double] = [1, 2];
const nothing: MapFacts = {
  isDictionary: false,
  properties: [],
  prototype: 0,
  hasPrototypeSlot: false,
  elementsKind: 0,
};

export class MapReader {
  readonly #heap: V8Heap;
  readonly #names: Names;
  readonly #facts = new Map<Tagged, MapFacts>();

  constructor(heap: V8Heap, names: Names) {
    this.#heap = heap;
    this.#names = names;
  }

  of(map: Tagged): MapFacts {
    const known = this.#facts.get(map);
    if (known) return known;
    const facts = whereMapped(() => this.#read(map)) ?? nothing;
    this.#facts.set(map, facts);
    return facts;
  }

  #read(map: Tagged): MapFacts {
    const { memory, layout } = this.#heap;
    const { map: m } = layout;
    const bits3 = memory.readUint32(map - 1 + m.bitField3);
    const bits2 = memory.readUint8(map - 1 + m.bitField2);
    const isDictionary = ((bits3 >>> m.isDictionaryShift) & 1) === 1;
    return {
      isDictionary,
      properties: isDictionary ? [] : this.#properties(map, bits3),
      prototype: this.#heap.field(map, m.prototype),
      hasPrototypeSlot: (memory.readUint8(map - 1 + m.bitField) & prototypeSlotBit) !== 0,
      elementsKind: (bits2 & m.elementsKindMask) >>> m.elementsKindShift,
    };
  }

  #properties(map: Tagged, bits3: number): DescribedProperty[] {
    const heap = this.#heap;
    const { map: m, descriptors: d, fixedArray } = heap.layout;
    const count = (bits3 & m.descriptorCountMask) >>> m.descriptorCountShift;
    const array = heap.field(map, m.descriptors);
    const first = heap.memory.readUint8(map - 1 + m.inObjectStart);
    const inObject = heap.memory.readUint8(map - 1 + m.instanceSizeInWords) - first;
    const properties: DescribedProperty[] = [];
    for (let i = 0; i < count; i++) {
      const at = d.header + i * d.entryWords * 8;
      const name = this.#names.ofKey(heap, heap.field(array, at + d.key * 8));
      const details = heap.findSmi(array, at + d.details * 8);
      if (name === undefined || details === undefined) continue;
      const isAccessor = (details & d.kindMask) !== 0;
      const index = (details & d.indexMask) >>> d.indexShift;
      const isField = (details & d.locationMask) === 0;
      const representation = (details >>> (Math.log2(d.locationMask) + 1)) & representationMask;
      properties.push({
        ...this.namesOf(name, isAccessor),
        isNumber: isField && (representation === smi || representation === double),
        ...(!isField
          ? { constant: heap.field(array, at + d.value * 8) }
          : index < inObject
            ? { inObject: first + index }
            : { inArray: fixedArray.data / 8 + index - inObject }),
      });
    }
    return properties;
  }

  namesOf(name: number, isAccessor: boolean): Omit<DescribedProperty, 'inObject' | 'inArray' | 'constant'> {
    const text = this.#names.text(name);
    // V8 adds `get` and `set` only to names that are strings.
    const isPlain = !isAccessor || text.startsWith('<symbol');
    return {
      name,
      isAccessor,
      getter: isPlain ? name : this.#names.of(`get ${text}`),
      setter: isPlain ? name : this.#names.of(`set ${text}`),
    };
  }
}
