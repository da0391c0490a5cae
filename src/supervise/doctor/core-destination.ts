/**
 * Where this machine's cores are stored, and what is needed to find one: core_pattern of core(5), and the collectors that
 * distributions configure there. Sources: coredump.conf(5), apport's own `apport` and README, abrt's hook.
 */
import { existsSync } from 'node:fs';
import { platform } from '../../platform/index.ts';
import { listFolder, readSmallFile } from '../../platform/small-file.ts';

/** The system's settings, as read. */
export interface CoreSettings {
  /** `core_pattern`; empty if it can't be read. */
  pattern: string;
  usesPid: boolean;
  /** Limits of this process: `0`, `unlimited`, or bytes. */
  softLimit?: string | undefined;
  hardLimit?: string | undefined;
  /** Whether a file or folder exists. */
  isThere(path: string): boolean;
  /** Text of a configuration file; undefined if it does not exist. */
  settings(path: string): string | undefined;
}

export interface CoreDestination {
  value: string;
  advice?: string;
}

interface Collector {
  /** Matches the file name of the program. */
  program: RegExp;
  describe(settings: CoreSettings): CoreDestination;
}

const collectors: readonly Collector[] = [
  { program: /^systemd-coredump$/, describe: ofSystemd },
  { program: /^apport$/, describe: ofApport },
  { program: /^abrt-hook-ccpp$/, describe: () => ({ value: 'abrt: /var/spool/abrt/ccpp-*/coredump' }) },
  {
    program: /^(?:false|true)$/,
    describe: () => ({
      value: 'nowhere: they are thrown away',
      advice: 'no core can be kept: set kernel.core_pattern, or `agentdump run --hold`',
    }),
  },
];

export function readCoreSettings(): CoreSettings {
  const limits = /^Max core file size\s+(\S+)\s+(\S+)/m.exec(platform.processFile('self', 'limits') ?? '');
  return {
    pattern: platform.kernelFile('sys/kernel/core_pattern') ?? '',
    usesPid: platform.kernelFile('sys/kernel/core_uses_pid') === '1',
    softLimit: limits?.[1],
    hardLimit: limits?.[2],
    isThere: existsSync,
    settings: settingsText,
  };
}

/** Including the drop-ins in `<path>.d`, in order. */
function settingsText(path: string): string | undefined {
  const text = readSmallFile(path);
  const dropIns = listFolder(`${path}.d`).filter((name) => name.endsWith('.conf'));
  const texts = [text, ...dropIns.sort().map((name) => readSmallFile(`${path}.d/${name}`))];
  const known = texts.filter((each) => each !== undefined);
  return known.length > 0 ? known.join('\n') : undefined;
}

export function describeCoreDestination(settings: CoreSettings): CoreDestination {
  const { pattern } = settings;
  if (pattern === '')
    return { value: 'unknown', advice: 'core_pattern is empty or cannot be read: the kernel may leave none' };
  if (!pattern.startsWith('|')) return ofFile(settings);
  const [program = ''] = pattern.slice(1).trim().split(/\s+/);
  if (!settings.isThere(program) && !/^\/bin\/(?:false|true)$/.test(program))
    return {
      value: `a program that is not here: ${program}`,
      advice:
        'core_pattern is the host’s: in a container look on the host, which keeps the core if that program is there; `agentdump run --hold` needs none',
    };
  const name = program.slice(program.lastIndexOf('/') + 1);
  const collector = collectors.find((known) => known.program.test(name));
  return (
    collector?.describe(settings) ?? {
      value: `the program ${program}`,
      advice: 'a native crash’s core goes to that program, which is not known here: look there',
    }
  );
}

function ofFile({ pattern, usesPid, softLimit, hardLimit, isThere }: CoreSettings): CoreDestination {
  const value = pattern.startsWith('/') ? pattern : `${pattern}, in the working directory`;
  const isNamedByPid = usesPid || /%[pPiI]/.test(pattern);
  const named = isNamedByPid && !/%[pPiI]/.test(pattern) ? `${value}, with .<pid>` : value;
  if (hardLimit === '0') return { value: named, advice: 'the hard limit below allows none' };
  const folder = pattern.slice(0, Math.max(0, pattern.lastIndexOf('/')));
  if (folder !== '' && !folder.includes('%') && !isThere(folder))
    return {
      value: named,
      advice: `the folder is not there, so the kernel keeps none: \`mkdir -p '${folder}'\``,
    };
  if (!isNamedByPid)
    return {
      value: named,
      advice: 'each core replaces the one before: `sysctl kernel.core_uses_pid=1`',
    };
  if (softLimit === '0')
    return {
      value: named,
      advice: 'the soft limit is 0: `ulimit -c unlimited`, or `agentdump run`, which raises it',
    };
  return { value: named };
}

/** The last occurrence of a setting counts. */
const settingOf = (text: string | undefined, name: string): string | undefined =>
  [...(text ?? '').matchAll(new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*(.*?)[ \\t]*$`, 'gm'))].at(-1)?.[1];

function ofSystemd({ settings, softLimit }: CoreSettings): CoreDestination {
  const text = settings('/etc/systemd/coredump.conf');
  const storage = settingOf(text, 'Storage') ?? 'external';
  if (storage === 'none')
    return {
      value: 'systemd-coredump, which keeps none (Storage=none)',
      advice: 'Storage=external in /etc/systemd/coredump.conf keeps them',
    };
  if (storage === 'journal')
    return {
      value: 'systemd-coredump, into the journal',
      advice: '`coredumpctl dump PID --output core` takes one out; `agentdump core core` reads it',
    };
  const limits = ['ProcessSizeMax', 'ExternalSizeMax'].flatMap((name) => {
    const size = settingOf(text, name);
    return size === undefined ? [] : [`${name}=${size}`];
  });
  const value = `systemd-coredump: /var/lib/systemd/coredump/core.*.zst${limits.length ? ` (${limits.join(', ')})` : ''}`;
  if (settingOf(text, 'ProcessSizeMax') === '0')
    return { value, advice: 'ProcessSizeMax=0 keeps none: raise it' };
  if (softLimit === '0')
    return {
      value,
      advice: 'the soft limit on cores is 0, and systemd-coredump keeps to it: `ulimit -c unlimited`',
    };
  return { value };
}

function ofApport({ settings, softLimit }: CoreSettings): CoreDestination {
  const enabled = settingOf(settings('/etc/default/apport'), 'enabled');
  const value = 'apport: /var/crash/*.crash';
  if (enabled === '0')
    return {
      value: `${value}, switched off`,
      advice: 'set enabled=1 in /etc/default/apport; or core_pattern to a file’s name',
    };
  return {
    value,
    advice: `for programs of packages only: of another Node it leaves a core in /var/lib/apport/coredump, ${softLimit === '0' ? 'and none while the limit is 0 (`ulimit -c unlimited`)' : 'as far as the limit goes'}`,
  };
}
