/**
 * The arguments and environment that the process was started with, from the top of its initial stack: a count, two tables of
 * pointers, the auxiliary vector, then the texts. Redacted before they are shown. Sources: Linux's fs/binfmt_elf.c
 * (create_elf_tables); libuv's proctitle.c, which writes a title over the arguments.
 */
import { type MemoryReader, whereMapped } from '../../../bytes/memory.ts';
import type { CoreFile } from '../../../formats/elf-core/core-contents.ts';
import { OWN_NOTE, OWN_START_WORDS } from '../../../formats/elf-core/layout.ts';
import { buildNote } from '../../../formats/elf-core/write-core.ts';
import type { EnvironmentFacts } from '../../../model/account.ts';
import type { Gap } from '../../../model/verdict.ts';
import { createPolicy, type Policy } from '../../../redaction/index.ts';
import type { CoreDump } from '../core-dump.ts';

export interface StartWords {
  arguments: string[];
  variables: NonNullable<EnvironmentFacts['variables']>;
  /** The program has overwritten its arguments with a title, which is then the only word. */
  isTitle?: boolean;
}

export const titleGap: Gap = { part: 'core', reason: 'its arguments were overwritten by process.title' };

/** Sixteen random bytes, located above the auxiliary vector. */
const AT_RANDOM = 25;
/** Between the two are a few names and padding. */
const searchedBytes = 1 << 12;
/** How many pairs are compared to recognise the vector. */
const comparedPairs = 4;
const maxPointers = 1 << 16;
/** The kernel's own limit is 128 kB per text. */
const maxText = 1 << 17;

/** Undefined if the core doesn't contain that stack. */
export function findStartWords(dump: CoreDump): StartWords | undefined {
  const noted = dump.core.own.get(OWN_START_WORDS);
  if (noted) return readNote(noted);
  // A mini core has them as a redacted note, never as memory.
  return dump.memory.unrecorded(() => whereMapped(() => read(dump.core, dump.memory)));
}

/**
 * The unredacted variables: only for a policy that must learn their secrets. Undefined like `findStartWords`, and for a core
 * with a note.
 */
export function findVariables(dump: CoreDump): Record<string, string> | undefined {
  if (dump.core.own.has(OWN_START_WORDS)) return undefined;
  return whereMapped(() => readRaw(dump.core, dump.memory)?.variables);
}

/** Redacts words that were redacted only by the rules again, with a policy that knows more. */
export function redactWords(words: StartWords, redactor: Pick<Policy, 'argv' | 'environment'>): StartWords {
  const shown = Object.entries(words.variables).flatMap(([name, variable]) =>
    'value' in variable ? [[name, variable.value] as const] : [],
  );
  const variables = { ...words.variables, ...redactor.environment(Object.fromEntries(shown)) };
  return { ...words, arguments: redactor.argv(words.arguments), variables };
}

export function buildStartWordsNote(words: StartWords): Buffer {
  return buildNote(OWN_NOTE, OWN_START_WORDS, Buffer.from(JSON.stringify(words)));
}

function readNote(bytes: Uint8Array): StartWords | undefined {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString('utf8')) as StartWords | null;
    const variables = value?.variables;
    const isWhole =
      Array.isArray(value?.arguments) &&
      value.arguments.every((word) => typeof word === 'string') &&
      variables !== null &&
      typeof variables === 'object' &&
      Object.values(variables).every((v) => typeof Object.values(v ?? {})[0] === 'string');
    return isWhole ? (value ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

function read(core: CoreFile, memory: MemoryReader): StartWords | undefined {
  const found = readRaw(core, memory);
  if (!found) return undefined;
  const { words, variables, isTitle } = found;
  const policy = createPolicy({ environment: variables });
  return {
    arguments: policy.argv(words),
    variables: { ...policy.environment(variables) },
    ...(isTitle && { isTitle }),
  };
}

function readRaw(core: CoreFile, memory: MemoryReader) {
  const vector = findVector(core, memory);
  if (vector === undefined) return undefined;
  const environment = readPointers(memory, vector - 8);
  const given = environment && readPointers(memory, environment.start - 8);
  // The count in front of the table must equal its length.
  if (!given || memory.readWord(given.start - 8) !== given.pointers.length) return undefined;
  const words = given.pointers.map((at) => readText(memory, at));
  const first = given.pointers[0] ?? 0;
  const isTitle = given.pointers.some(
    (at, i) => i > 0 && at !== (given.pointers[i - 1] ?? 0) + (words[i - 1]?.bytes ?? 0) + 1,
  );
  const variables: Record<string, string> = Object.create(null);
  for (const at of environment.pointers) {
    const { text } = readText(memory, at);
    const equals = text.indexOf('=');
    if (equals > 0) variables[text.slice(0, equals)] = text.slice(equals + 1);
  }
  return {
    words: isTitle ? [readText(memory, first).text] : words.map(({ text }) => text),
    variables,
    isTitle,
  };
}

function findVector(core: CoreFile, memory: MemoryReader): number | undefined {
  const random = Number(core.auxiliary.get(AT_RANDOM) ?? 0n);
  const pairs = [...core.auxiliary].slice(0, comparedPairs);
  if (random === 0 || pairs.length < comparedPairs) return undefined;
  const isVector = (at: number) =>
    pairs.every(
      ([type, value], i) =>
        memory.findWord(at + i * 16) === type && memory.readBigWord(at + i * 16 + 8) === value,
    );
  for (let at = Math.floor(random / 8) * 8; at > random - searchedBytes; at -= 8) if (isVector(at)) return at;
  return undefined;
}

/** The table of pointers that ends with a zero at `end`. */
function readPointers(memory: MemoryReader, end: number): { start: number; pointers: number[] } | undefined {
  if (memory.readWord(end) !== 0) return undefined;
  const pointers: number[] = [];
  for (let at = end - 8; pointers.length <= maxPointers; at -= 8) {
    const word = memory.readWord(at);
    // The previous table ends with a zero; the arguments are preceded by their count.
    if (word <= maxPointers) return { start: at + 8, pointers: pointers.reverse() };
    pointers.push(word);
  }
  return undefined;
}

function readText(memory: MemoryReader, at: number): { text: string; bytes: number } {
  const bytes: number[] = [];
  for (let i = 0; i < maxText; i++) {
    const byte = memory.readUint8(at + i);
    if (byte === 0) break;
    bytes.push(byte);
  }
  return { text: Buffer.from(bytes).toString('utf8'), bytes: bytes.length };
}
