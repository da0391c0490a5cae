/** Memory of this process. Alone, because the testing half of the preload needs nothing else of the room. */

export function memoryUsage(): NodeJS.MemoryUsage {
  try {
    return process.memoryUsage();
  } catch {
    return withoutResidentSize();
  }
}

export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return mostResidentBytes();
  }
}

/** libuv gives kilobytes. */
const mostResidentBytes = (): number => process.resourceUsage().maxRSS * 1024;

/** Node reads the resident size from the kernel, and throws where it may not. The largest that it had is known without. */
function withoutResidentSize(): NodeJS.MemoryUsage {
  const { total_heap_size, used_heap_size, external_memory } = process
    .getBuiltinModule('node:v8')
    .getHeapStatistics();
  return {
    rss: mostResidentBytes(),
    heapTotal: total_heap_size,
    heapUsed: used_heap_size,
    external: external_memory,
    arrayBuffers: 0,
  };
}
