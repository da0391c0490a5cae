/** An opened core: its notes, its memory joined with the modules' files, and gaps for what is missing. */
import { existsSync } from 'node:fs';
import { type ByteSource, FileSource } from '../../bytes/byte-source.ts';
import { ProcessMemory } from '../../bytes/memory.ts';
import type { CoreFile } from '../../formats/elf-core/core-contents.ts';
import { coreExtents, readCore } from '../../formats/elf-core/core-file.ts';
import type { Gap } from '../../model/verdict.ts';
import { type Collected, contradiction } from './input/collected.ts';
import { type CoreInput, openCoreBytes, openCoreInput } from './input/core-input.ts';
import type { Machine } from './native/machine.ts';
import { machineOf } from './native/machines.ts';
import { type ModuleMap, type ModuleOptions, moduleExtents, openModules } from './native/module-map.ts';

export interface CoreDump {
  path: string;
  core: CoreFile;
  machine: Machine;
  memory: ProcessMemory;
  modules: ModuleMap;
  /** What the collector recorded about the process, unless it contradicts the core. */
  collected?: Collected;
  gaps: Gap[];
  close(): void;
}

export interface CoreDumpOptions extends ModuleOptions {
  /** Receives the number of every block (of `touchBlockBytes`) of memory that is read. */
  touchedBlocks?: Set<number>;
}

/**
 * Opens a core in any form that `openCoreInput` accepts, and throws its errors. Throws `malformed-input` if it is not a core
 * of x86-64 or arm64.
 */
export async function openAnyCore(path: string, options: CoreDumpOptions = {}): Promise<CoreDump> {
  return openInput(path, await openCoreInput(path), options);
}

/** The same for a core in memory, a part of a bundle. */
export async function openCoreInMemory(bytes: Uint8Array, options: CoreDumpOptions = {}): Promise<CoreDump> {
  return openInput('', await openCoreBytes(bytes), options);
}

/** Opens an uncompressed core. Throws `malformed-input`, and `not-found` if the file doesn't exist. */
export function openCoreDump(path: string, options: CoreDumpOptions = {}): CoreDump {
  const file = new FileSource(path);
  return openInput(path, { source: file, problems: [], close: () => file.close() }, options);
}

/** The same for a core from any byte source. */
export function openCoreSource(source: ByteSource, options: CoreDumpOptions = {}): CoreDump {
  return openInput('', { source, problems: [], close: () => source.drop?.() }, options);
}

function openInput(path: string, input: CoreInput, options: CoreDumpOptions): CoreDump {
  try {
    return openSource(path, input, options);
  } catch (error) {
    input.close();
    throw error;
  }
}

function openSource(path: string, input: CoreInput, options: CoreDumpOptions): CoreDump {
  const gaps: Gap[] = [];
  const core = readCore(input.source);
  for (const reason of [...input.problems, ...core.problems]) gaps.push({ part: 'core', reason });
  const collected = agreeing(input.collected, core, gaps);
  const own = coreExtents(core);
  const ownMemory = new ProcessMemory(own);
  ownMemory.touchedBlocks = options.touchedBlocks;
  const recordsModules = options.touchedBlocks !== undefined;
  const executable = options.executable ?? executableOf(collected, core);
  const modules = openModules(
    core,
    ownMemory,
    { ...options, recordsModules, ...(executable !== undefined && { executable }) },
    gaps,
  );
  const memory = new ProcessMemory([...own, ...moduleExtents(modules)]);
  memory.touchedBlocks = options.touchedBlocks;
  const close = () => {
    input.close();
    modules.close();
    for (const each of [ownMemory, memory]) each.release();
  };
  return {
    path,
    core,
    machine: machineOf(core),
    memory,
    modules,
    ...(collected && { collected }),
    gaps,
    close,
  };
}

function agreeing(collected: Collected | undefined, core: CoreFile, gaps: Gap[]): Collected | undefined {
  const reason = collected && contradiction(collected, core);
  if (reason === undefined) return collected;
  gaps.push({ part: 'core', reason });
  return undefined;
}

/** The collector's path of the executable is only used if the core has no list of files. */
function executableOf(collected: Collected | undefined, core: CoreFile): string | undefined {
  const path = core.files.length === 0 ? collected?.executable : undefined;
  return path !== undefined && existsSync(path) ? path : undefined;
}
