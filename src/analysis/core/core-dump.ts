/** An opened core: its notes, its memory joined with the modules' files, and what could not be had. */
import { FileSource } from '../../bytes/byte-source.ts';
import { ProcessMemory } from '../../bytes/memory.ts';
import { type CoreFile, coreExtents, readCore } from '../../formats/elf-core/core-file.ts';
import type { Gap } from '../../model/verdict.ts';
import { type Machine, x64 } from './machine.ts';
import { type ModuleMap, type ModuleOptions, moduleExtents, openModules } from './module-map.ts';

export interface CoreDump {
  path: string;
  core: CoreFile;
  machine: Machine;
  memory: ProcessMemory;
  modules: ModuleMap;
  gaps: Gap[];
  close(): void;
}

/** Throws `malformed-input` for what is no x86-64 core, `not-found` where there is no file. */
export function openCoreDump(path: string, options: ModuleOptions = {}): CoreDump {
  const source = new FileSource(path);
  const gaps: Gap[] = [];
  const core = readCore(source);
  for (const reason of core.problems) gaps.push({ part: 'core', reason });
  const own = coreExtents(core);
  const modules = openModules(core, new ProcessMemory(own), options, gaps);
  const memory = new ProcessMemory([...own, ...moduleExtents(modules)]);
  const close = () => {
    source.close();
    modules.close();
  };
  return { path, core, machine: x64, memory, modules, gaps, close };
}
