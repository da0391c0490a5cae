/** The two texts that the build made of report/html, for the renderer of the page. */
import { readFileSync } from 'node:fs';
import type { PageAssets } from '../report/html.ts';

export function readPageAssets(): PageAssets {
  const textOf = (name: string): string =>
    readFileSync(new URL(`../report/html/${name}`, import.meta.url), 'utf8');
  return { script: textOf('page.js'), style: textOf('page.css') };
}
