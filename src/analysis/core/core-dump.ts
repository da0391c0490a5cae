/** An opened core: its notes, its memory joined with the modules' files, and what could not be had. */
import { gunzipSync } from 'node:zlib';
import { type ByteSource, bytesSource, FileSource, readExactly } from '../../bytes/byte-source.ts';
import { ProcessMemory } from '../../bytes/memory.ts';
import { MalformedInput } from '../../errors.ts';
import type { CoreFile } from '../../formats/elf-core/core-contents.ts';
import { coreExtents, readCore } from '../../formats/elf-core/core-file.ts';
import type { Gap } from '../../model/verdict.ts';
import type { Machine } from './native/machine.ts';
import { machineOf } from './native/machines.ts';
import { type ModuleMap, type ModuleOptions, moduleExtents, openModules } from './native/module-map.ts';

export interface CoreDump {
  path: string;
  core: CoreFile;
  machine: Machine;
  memory: ProcessMemory;
  modules: ModuleMap;
  gaps: Gap[];
  close(): void;
}

export interface CoreDumpOptions extends ModuleOptions {
  /** Gets the number of every block (`touchBlockBytes`) of memory that is read. */
  touchedBlocks?: Set<number>;
}

/** A compressed core of more than this is unpacked by whoever has the room for it. */
const maxInflated = 1 << 30;

/** Throws `malformed-input` for what is no core of x86-64 or arm64, `not-found` where there is no file. */
export function openCoreDump(path: string, options: CoreDumpOptions = {}): CoreDump {
  const file = new FileSource(path);
  return openSource(path, file, () => file.close(), options);
}

/** The same for what has a core's bytes by another way than a path. */
export function openCoreSource(source: ByteSource, options: CoreDumpOptions = {}): CoreDump {
  return openSource('', source, () => {}, options);
}

/** The same for a core that is in memory: a bundle's part. */
export function openCoreBytes(bytes: Uint8Array, options: CoreDumpOptions = {}): CoreDump {
  return openCoreSource(bytesSource(bytes), options);
}

function openSource(
  path: string,
  file: ByteSource,
  closeFile: () => void,
  options: CoreDumpOptions,
): CoreDump {
  const gaps: Gap[] = [];
  const core = readCore(inflated(file));
  for (const reason of core.problems) gaps.push({ part: 'core', reason });
  const own = coreExtents(core);
  const ownMemory = new ProcessMemory(own);
  ownMemory.touchedBlocks = options.touchedBlocks;
  const recordsModules = options.touchedBlocks !== undefined;
  const modules = openModules(core, ownMemory, { ...options, recordsModules }, gaps);
  const memory = new ProcessMemory([...own, ...moduleExtents(modules)]);
  memory.touchedBlocks = options.touchedBlocks;
  const close = () => {
    closeFile();
    modules.close();
    for (const each of [ownMemory, memory]) each.release();
  };
  return { path, core, machine: machineOf(core), memory, modules, gaps, close };
}

/** Mini cores are kept compressed. */
function inflated(file: ByteSource): ByteSource {
  const magic = new Uint8Array(2);
  file.readInto(magic, 0);
  if (magic[0] !== 0x1f || magic[1] !== 0x8b) return file;
  try {
    const packed = readExactly(file, 0, file.size, { format: 'gzip', field: 'core' });
    return bytesSource(gunzipSync(packed, { maxOutputLength: maxInflated }));
  } catch (error) {
    throw new MalformedInput('gzip: the core cannot be unpacked', { format: 'gzip', field: 'core' }, error);
  }
}
