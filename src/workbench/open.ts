/** The workbench from outside: what is to be opened, and the address where it then is. */
import { readFileSync } from 'node:fs';
import type { Keys } from '../bundle/read/age.ts';
import { findTargets } from './items/targets.ts';
import { serveWorkbench, type Workbench } from './server/serve.ts';

export interface OpenOptions {
  /** A bundle, a core, or a folder of bundles; the dump folder when there is none. */
  target?: string | undefined;
  dir: string;
  keys?: Keys | undefined;
  /** Of a core, where it is not at the path that the process knew. */
  executable?: string | undefined;
  port?: number | undefined;
}

/** Throws `not-found` for what is not there, `unwritable` for a port that can't be had. */
export function openWorkbench({ target, dir, keys, executable, port }: OpenOptions): Promise<Workbench> {
  return serveWorkbench({
    targets: findTargets(target, dir),
    assets: { script: textOf('workbench.js'), style: textOf('workbench.css') },
    executable,
    port: port ?? 0,
    ...(keys && { keys }),
  });
}

/** What the build made of page/. */
function textOf(name: string): string {
  return readFileSync(new URL(`page/${name}`, import.meta.url), 'utf8');
}
