/**
 * Writes an account as a page: calls the renderer of report/html.ts with the two texts that the build made of report/html.
 */
import { readFileSync } from 'node:fs';
import type { Account } from '../../model/account.ts';
import { renderHtml } from '../../report/html.ts';
import { print, writeNew } from './output.ts';

/** @param path a file that does not exist yet, or `-`. */
export function writePage(account: Account, path: string): void {
  const html = renderHtml(account, { script: textOf('page.js'), style: textOf('page.css') });
  if (path === '-') print(html);
  else writeNew(path, html);
}

function textOf(name: string): string {
  return readFileSync(new URL(`../../report/html/${name}`, import.meta.url), 'utf8');
}
