/** Sees what CommonJS modules a runner loads, and may hand over another thing in their place. Runners' processes only. */

type Load = (request: string, parent: unknown, isMain: boolean) => unknown;

/** `react` gets every loaded module's exports; what it returns, if anything, is what the runner gets. */
export function watchLoads(react: (request: string, exports: unknown) => unknown): void {
  const Module = process.getBuiltinModule('node:module') as unknown as { _load: Load };
  const load = Module._load;
  Module._load = function _load(this: unknown, request, parent, isMain) {
    const exports = Reflect.apply(load, this, [request, parent, isMain]);
    try {
      return react(request, exports) ?? exports;
    } catch {
      return exports;
    }
  };
}
