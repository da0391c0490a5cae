/** A module of a core whose code is given, as the readers of native stacks see it. */
import type { ModuleCode } from '../../../src/analysis/core/native/module-code.ts';
import type { CoreModule } from '../../../src/analysis/core/native/module-map.ts';

/** One executable segment of `size` bytes at `base`, linked at 0. What `code` lacks is not known of it. */
export function moduleOfCode(
  path: string,
  base: number,
  size: number,
  code: Partial<ModuleCode>,
): CoreModule {
  const segment = {
    type: 1,
    flags: 5,
    offset: 0,
    virtualAddress: 0,
    fileSize: size,
    memorySize: size,
    align: 1,
  };
  const unknown = () => undefined;
  return {
    path,
    start: base,
    end: base + size,
    mappings: [{ start: base, end: base + size, fileOffset: 0, path }],
    code: {
      segments: [segment],
      findFunction: unknown,
      findExported: unknown,
      findNamed: unknown,
      findFrame: unknown,
      findBytes: unknown,
      ...code,
    },
  } as unknown as CoreModule;
}
