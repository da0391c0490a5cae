/** `memory.json`: figures of V8 and the kernel, and what the heap tier decided. Sizes in bytes. */
import { type MemoryPart, partNames } from '../../../bundle/layout/bundle.ts';
import { platform } from '../../../platform/index.ts';
import { readMachine } from '../../../platform/machine.ts';
import { decideHeapTier } from '../../heap/tier.ts';
import type { PartProducer } from '../part.ts';
import { mappedMemory } from './mapped-memory.ts';

export const memoryPart: PartProducer = {
  name: partNames.memory,
  isVital: true,
  hasOwnFigures: true,
  produce({ config, trigger }): MemoryPart {
    const v8 = process.getBuiltinModule('node:v8');
    const usage = platform.memoryUsage();
    const mapped = mappedMemory(usage);
    return {
      usage: { ...usage },
      heap: { ...v8.getHeapStatistics() },
      spaces: v8.getHeapSpaceStatistics().map((space) => ({ ...space })),
      system: { totalBytes: readMachine().memoryBytes, availableBytes: platform.availableBytes() },
      ...(mapped && { mapped }),
      heapTier: decideHeapTier(config, trigger),
    };
  },
};
