/** Programs by which the kernel reads the references of most objects: one for each map (heap-references.as.ts). */
import type { V8Layout } from '../../heap/object-layout.ts';
import { type ObjectPlan, plainKinds } from '../js-object-references.ts';
import type { NamedWords } from '../named-words.ts';
import { Edge, type ObjectKinds } from '../object-kinds.ts';
import type { HeapObjects } from '../objects/heap-objects.ts';
import type { ReferenceReader } from '../references.ts';
import type { Tagger } from '../tags.ts';
import { byReader, type HeapKernel } from './heap-kernel.ts';

const ProgramShape = { onlyMap: 0, plain: 1, array: 2, object: 3 } as const;
/** A trait of words that tag whatever they refer to. */
const tagsAny = 4;
const [traitShift, tagShift] = [8, 16];
const recordWords = 4;
/** Words that the kernel has marks for. */
const markedWords = 64;
const none = -1;
const plainElements = 1;
const otherElements = 2;
const [noFunction, withoutPrototype] = [0, 1];
const [inArray, constant] = [0, 1];

export class Programs {
  readonly #kernel: HeapKernel;
  readonly #layout: V8Layout;
  readonly #objects: HeapObjects;
  readonly #kinds: ObjectKinds;
  readonly #references: ReferenceReader;
  readonly #tagger: Tagger;
  readonly #room: Int32Array;
  #used = 0;

  constructor(
    kernel: HeapKernel,
    layout: V8Layout,
    objects: HeapObjects,
    kinds: ObjectKinds,
    references: ReferenceReader,
    tagger: Tagger,
  ) {
    this.#kernel = kernel;
    this.#layout = layout;
    this.#objects = objects;
    this.#kinds = kinds;
    this.#references = references;
    this.#tagger = tagger;
    this.#room = kernel.numbers('program', kernel.code.programRoom.value / 4);
    kernel.answers.learnProgram = (object) => this.#write(this.#programFor(object));
    kernel.answers.learnTag = (combination, tag) => tagger.step(combination, tag);
  }

  #write(words: readonly number[] | undefined): number {
    if (!words || this.#used + words.length > this.#room.length) return byReader;
    this.#room.set(words, this.#used);
    const address = this.#kernel.addressOf('program') + this.#used * 4;
    this.#used += words.length;
    return address;
  }

  /** Undefined if the objects of this one's map are to be read in TypeScript. */
  #programFor(object: number): number[] | undefined {
    const type = this.#objects.typeOf(object);
    const { types } = this.#layout;
    if (this.#kinds.isWrapper(type) || !this.#tagger.isPlainOwner(type)) return undefined;
    const { kind, named, onlyMap, plan, names } = this.#references.describe(object);
    if (onlyMap !== undefined) return [ProgramShape.onlyMap, onlyMap, 0, 0, names.map];
    if (type === types.globalProxy || type === types.boundFunction) return undefined;
    const records = this.#recordsOf(named);
    if (!records) return undefined;
    const bare = (shape: number) => [shape, none, 0, 0, named.count, none, 0, 0, 0, 0, 0, 0, 0, ...records];
    if (kind.shape === 'array') return bare(ProgramShape.array);
    if (kind.shape === 'plain' || (kind.shape === 'js-object' && !plan)) return bare(ProgramShape.plain);
    if (kind.shape !== 'js-object' || !plan) return undefined;
    const fields = this.#recordsOf(plan.fields);
    const others = this.#othersOf(plan);
    if (plan.facts.isDictionary || !fields || !others) return undefined;
    const [first, last] = types.function;
    const { object: o, array, functionObject } = this.#layout;
    const isFunction = type >= first && type <= last;
    return [
      ProgramShape.object,
      none,
      plan.fields.count,
      others.length / recordWords,
      named.count,
      plan.prototype,
      plainKinds.includes(plan.facts.elementsKind) ? plainElements : otherElements,
      type === types.jsArray ? array.length / 8 : 0,
      !isFunction
        ? noFunction
        : plan.facts.hasPrototypeSlot
          ? functionObject.prototypeOrMap / 8
          : withoutPrototype,
      o.elements / 8,
      o.properties / 8,
      names.prototype,
      names.code,
      ...fields,
      ...others,
      ...records,
    ];
  }

  #recordsOf({ count, words, types, names, traits }: NamedWords): number[] | undefined {
    const records: number[] = [];
    for (let i = 0; i < count; i++) {
      const [word, type, name] = [words[i]!, types[i]!, names[i]!];
      if (word >= markedWords) return undefined;
      const { tag, isOfAny } =
        type === Edge.internal ? this.#tagger.edgeTag(name) : { tag: 0, isOfAny: false };
      const traitsOf = traits[i]! | (isOfAny ? tagsAny : 0);
      records.push(word, type | (traitsOf << traitShift) | (tag << tagShift), name, 0);
    }
    return records;
  }

  /** Properties that are not words of the object. */
  #othersOf({ others }: ObjectPlan): number[] | undefined {
    const records: number[] = [];
    for (const property of others) {
      const { name, isAccessor, inObject, inArray: word } = property;
      if (inObject !== undefined || (isAccessor && word !== undefined)) return undefined;
      if (word !== undefined) records.push(inArray, word, name, 0);
      else
        for (const { name, target } of this.#references.constantEdges(property))
          records.push(constant, target, name, 0);
    }
    return records;
  }
}
