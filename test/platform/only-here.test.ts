/** Rejects code outside of src/platform that depends on a specific system: paths of kernel files, chmod, signals. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** Searched in code without its comments. */
const refused: Record<string, RegExp> = {
  'a path of the kernel': /\/proc\b(?![-.])|\/sys\/|\/dev\/(?!null\b)/,
  'the name of a signal': /['"`]SIG[A-Z0-9]+['"`]/,
  'a permission': /\b(?:f|l)?chmod(?:Sync)?\b|\bumask\b/,
  'the name of a system': /process\.platform\s*[!=]==?|\b(?:os\.)?platform\(\)/,
};

/** Files that may contain them, and why; a folder ends with a slash. */
const mayHave: Record<string, string> = {
  'formats/elf-core/layout.ts': 'the table of a core file’s signals is part of that format',
  'analysis/verdict/causes/':
    'signals in the record of a death, and words of advice, are evidence and not a call',
  'analysis/verdict/seen-from-outside.ts': 'a signal in the record of a death is evidence',
  'supervise/evidence/classify-death.ts': 'a signal in an exit status is evidence',
  'supervise/run/exit-status.ts': 'a signal in an exit status is evidence, and is passed on as it is',
  'supervise/run/life.ts': 'a signal in an exit status is evidence',
  'supervise/run/run.ts': 'a signal in an exit status is evidence',
  'supervise/finish/aftermath.ts': 'a signal in an exit status is evidence',
  'supervise/native/hold-note.ts': 'SIGINFO is a section’s name in a foreign protocol',
  'supervise/native/hold.ts': 'a script for a shell, started on Linux only; the signal that a core names',
  'supervise/native/guard-stop.ts': 'a script for a shell; only processes that we stop on Linux are guarded',
  'supervise/doctor/trials.ts': 'programs that are to die of a signal, as their text',
  'ci/watch/silent-deaths.ts': 'a signal in an exit status is evidence',
  'capture/install/config.ts': 'a user’s setting and its default',
  'capture/install/read-setting.ts': 'what a user may write into a setting',
  'capture/triggers/hold-faults.ts': 'listens where a supervisor holds, which is Linux only',
  'capture/triggers/hold-natively.ts': 'a script for a shell, started on Linux only',
  'capture/host/free-descriptors.ts': 'reads targets of descriptors, which are paths of devices',
  'replayed/effects.ts': 'names of functions that are watched, and of devices that are not',
  'bundle/layout/operations.ts': 'names of functions and system calls that an error may name',
  'analysis/core/fault/system-calls.ts': 'names of Linux’s system calls, by the numbers in a core',
  'replay/guardian.ts': 'a script for a shell; without one the program is not guarded',
};

function* sources(dir: string): Generator<string> {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* sources(path);
    else if (/\.tsx?$/.test(name)) yield path;
  }
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;,{(])\/\/ .*$/gm, '$1');

function findings(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const path of sources(src)) {
    const file = relative(src, path);
    if (file.startsWith('platform/')) continue;
    const text = withoutComments(readFileSync(path, 'utf8')).replace(
      /^(?:import|export) .* from '.*';$/gm,
      '',
    );
    for (const [what, pattern] of Object.entries(refused)) {
      const line = text.split('\n').find((one) => pattern.test(one));
      if (line !== undefined) found.set(file, [...(found.get(file) ?? []), `${what}: ${line.trim()}`]);
    }
  }
  return found;
}

const allows = (entry: string, file: string): boolean =>
  entry.endsWith('/') ? file.startsWith(entry) : file === entry;

test('nothing outside the platform room asks a system by its own words', () => {
  const entries = Object.keys(mayHave);
  const broken = [...findings()].filter(([file]) => !entries.some((entry) => allows(entry, file)));
  assert.deepEqual(Object.fromEntries(broken), {});
});

test('the list of those who may has no entry too many', () => {
  const files = [...findings().keys()];
  const idle = Object.keys(mayHave).filter((entry) => !files.some((file) => allows(entry, file)));
  assert.deepEqual(idle, []);
});

test('the patterns find what they are for', () => {
  for (const text of [
    "'/proc/self/stat'",
    "'/dev/shm'",
    "'/sys/fs/cgroup'",
    "kill(pid, 'SIGKILL')",
    'fchmodSync(fd)',
  ])
    assert.ok(
      Object.values(refused).some((pattern) => pattern.test(text)),
      text,
    );
  for (const text of ["from './proc-view.ts'", "devNull === '/dev/null'", "'SIGNAL'.slice(3) + name"])
    assert.ok(
      !Object.values(refused).some((pattern) => pattern.test(text.replace("'SIGNAL'", 'signal'))),
      text,
    );
});
