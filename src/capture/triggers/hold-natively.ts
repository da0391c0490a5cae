/**
 * Hold mode with `@datadog/libdatadog-extras`, if the program has it installed: its handler runs on a stack of its own, so
 * that stack overflows and aborts are held too. Instead of its receiver it starts a shell that writes down its input (signal,
 * registers) and keeps the process alive until the supervisor removes the note, is dead, or the deadline has passed; then the
 * process dies of its own signal. Tested with version 0.21.0, which calls itself internal. On any failure the other kind of
 * hold mode remains.
 */
import { resolve } from 'node:path';

/** In the folder that the supervisor names: the output of the handler. */
export const toldName = 'told';

interface Crashtracker {
  init(config: object, receiver: object, metadata: object): void;
}

const longestHoldSeconds = 20;
/** SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV. */
const signals = [4, 6, 7, 8, 11];
/** $1 is the folder, $2 the supervisor. */
const receiver = `PATH=/usr/bin:/bin
umask 077
while read -r line; do
  printf '%s\\n' "$line"
  case $line in DD_CRASHTRACK_DONE*) break ;; esac
done > "$1/telling"
mv "$1/telling" "$1/${toldName}" || exit
left=${longestHoldSeconds * 10}
while [ -e "$1/${toldName}" ] && kill -0 "$2" && [ $left -gt 0 ]; do
  sleep 0.1
  left=$((left - 1))
done`;

/** Returns whether faults are held from now on. */
export function holdNatively(folder: string, supervisor: string): boolean {
  const tracker = findCrashtracker();
  try {
    tracker?.init(
      {
        additional_files: [],
        create_alt_stack: true,
        use_alt_stack: true,
        endpoint: null,
        resolve_frames: 'Disabled',
        signals,
        timeout: { secs: longestHoldSeconds, nanos: 0 },
        unix_socket_path: null,
        demangle_names: false,
        collect_all_threads: false,
        max_threads: 1,
      },
      {
        args: ['sh', '-c', receiver, 'agentdump-hold', folder, supervisor],
        env: [],
        path_to_receiver_binary: '/bin/sh',
        stderr_filename: null,
        stdout_filename: null,
      },
      { library_name: 'agentdump', library_version: '', family: 'nodejs', tags: [] },
    );
    return tracker !== undefined;
  } catch {
    return false;
  }
}

/** Resolved as the program would resolve it, from its main file or from its working directory. */
function findCrashtracker(): Crashtracker | undefined {
  const { createRequire } = process.getBuiltinModule('node:module');
  for (const from of [process.argv[1], resolve('program')])
    try {
      if (from !== undefined)
        return createRequire(resolve(from))('@datadog/libdatadog-extras').load('crashtracker');
    } catch {}
  return undefined;
}
