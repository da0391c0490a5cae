/** Windows: other processes are queried with PowerShell, which takes about half a second. */
import type { ListedProcess, Platform } from '../interface.ts';
import { nodeOnly } from './node-only.ts';
import { windowsCommand } from './windows-command.ts';
import { windowsFiles } from './windows-files.ts';

const timeoutMs = 10_000;
const listing =
  'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.Name)" }';

function askPowerShell(command: string): string {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const words = ['-NoProfile', '-NonInteractive', '-Command', command];
  const { stdout } = spawnSync('powershell.exe', words, {
    encoding: 'utf8',
    timeout: timeoutMs,
    windowsHide: true,
  });
  return stdout ?? '';
}

/** Lines of `pid parent name.exe`. */
export function parseProcessList(text: string): ListedProcess[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, pid, parentPid, program] = /^(\d+) (\d+) (.+?)\s*$/.exec(line) ?? [];
    if (program === undefined) return [];
    return [
      {
        pid: Number(pid),
        parentPid: Number(parentPid),
        program: program.replace(/\.exe$/i, '').toLowerCase(),
      },
    ];
  });
}

export const windows: Platform = {
  ...nodeOnly,
  name: 'win32',
  title: 'Windows',
  askForInspector: (pid) => (process as unknown as { _debugProcess(pid: number): void })._debugProcess(pid),
  inspectorMayKill: false,
  command: windowsCommand,
  opener: (path) => ({ file: 'explorer.exe', words: [path] }),
  processes: () => parseProcessList(askPowerShell(listing)),
  files: windowsFiles,
};
