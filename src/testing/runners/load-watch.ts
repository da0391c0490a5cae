/** Observes which CommonJS modules a runner loads, and can replace their exports. Used only in processes of runners. */

type Load = (request: string, parent: unknown, isMain: boolean) => unknown;

/** `react` receives the exports of every loaded module. If it returns something, the runner receives that instead. */
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
