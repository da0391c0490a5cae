/** Names of native code: readable symbols, V8's built-ins, and the purpose of a thread by its start function. */
import type { ElfSymbol } from '../../../formats/elf/symbols.ts';
import { demangle } from '../../../formats/mangled-names/demangle.ts';
import type { NativeFrame } from './native-stack.ts';

const builtinPrefix = 'Builtins_';

/** The symbol that contains the frame's code. */
export function findSymbol(frame: NativeFrame): ElfSymbol | undefined {
  const code = frame.location?.module.code;
  const address = frame.location?.address;
  if (!code || address === undefined) return undefined;
  // After a deoptimisation the return address is the very start of a built-in, not the end of a call in it.
  const distance = frame.programCounter - frame.lookupAddress;
  const exact = distance > 0 ? code.findFunction(address + distance) : undefined;
  if (exact?.address === address + distance && exact.name.startsWith(builtinPrefix)) return exact;
  return code.findFunction(address);
}

/** The name of a V8 built-in without its prefix; undefined for other symbols. */
export function builtinName(symbol: ElfSymbol | undefined): string | undefined {
  return symbol?.name.startsWith(builtinPrefix) ? symbol.name.slice(builtinPrefix.length) : undefined;
}

/** `puts@@GLIBC_2.2.5` → `puts`. */
export function readableName(symbol: ElfSymbol): string {
  return demangle(symbol.name.replace(/@.*$/, ''));
}

/** Start functions of a Node process's threads, and what those are for. */
const beginnings: [RegExp, string, 'worker' | 'native'][] = [
  [/^node::worker::Worker::StartThread/, 'worker thread', 'worker'],
  [/^node::.*PlatformWorkerThread/, "V8's platform worker", 'native'],
  [/DelayedTaskScheduler/, "scheduler of V8's delayed tasks", 'native'],
  [/^node::inspector::.*StartIoThreadMain/, 'waits for the inspector signal', 'native'],
  [/^node::SignalInspector|^node::inspector::InspectorIo/, 'inspector', 'native'],
  [/^worker$|^uv__threadpool|^uv__fs_|^uv__getaddrinfo/, 'pool of libuv', 'native'],
  [/^node::SigintWatchdog|^node::Watchdog/, 'watchdog', 'native'],
];

/** From the names of its frames, outermost last. */
export function describeThreadPurpose(
  names: (string | undefined)[],
): { name: string; kind: 'worker' | 'native' } | undefined {
  for (let i = names.length - 1; i >= 0; i--)
    for (const [pattern, name, kind] of beginnings)
      if (names[i] !== undefined && pattern.test(names[i] ?? '')) return { name, kind };
  return undefined;
}
