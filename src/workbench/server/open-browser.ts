/**
 * Opens a URL in the user's browser, if possible. The URL contains the token, and every user of the machine can see the
 * arguments of a command: so the browser opens a file that only this user can read, which redirects to the URL.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import { escapeHtml } from '../../report/html.ts';

/** Returns a function that removes the file. */
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
