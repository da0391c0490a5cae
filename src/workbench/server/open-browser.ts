/**
 * Shows an address in the user's browser, if that can be done. The address holds the token, and everybody on the machine can list
 * the words of a command: so what is opened is a file for the user's eyes only, which leads there.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { escapeHtml } from '../../report/html.ts';

/** Returns what removes the file. */
export function openBrowser(url: string): () => void {
  const nothing = () => {};
  try {
    const folder = mkdtempSync(join(tmpdir(), 'agentdump-open-'));
    const path = join(folder, 'open.html');
    const remove = () => rmSync(folder, { recursive: true, force: true });
    const opener = platform.opener(path);
    if (!opener) {
      remove();
      return nothing;
    }
    writeFileSync(path, `<!doctype html><meta http-equiv="refresh" content="0;url=${escapeHtml(url)}">\n`, {
      flag: 'wx',
      mode: 0o600,
    });
    const child = spawn(opener.file, opener.words, { detached: true, stdio: 'ignore' });
    child.on('error', nothing);
    child.unref();
    return remove;
  } catch {
    return nothing;
  }
}
