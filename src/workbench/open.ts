/** The entry point of the workbench: takes what to open, and returns the address. */
import { readFileSync } from 'node:fs';
import type { Keys } from '../bundle/read/age.ts';
import { findTargets } from './items/targets.ts';
import { serveWorkbench, type Workbench } from './server/serve.ts';

export interface OpenOptions {
  /** A bundle, a core, or a folder of bundles; default: the dump folder. */
  target?: string | undefined;
  dir: string;
  keys?: Keys | undefined;
  /** For a core whose executable is not at the recorded path. */
  executable?: string | undefined;
  port?: number | undefined;
}

/** Throws `not-found` if the target does not exist, `unwritable` if the port is not available. */
export function openWorkbench({ target, dir, keys, executable, port }: OpenOptions): Promise<Workbench> {
  return serveWorkbench({
    targets: findTargets(target, dir),
    assets: { script: textOf('workbench.js'), style: textOf('workbench.css') },
    executable,
    port: port ?? 0,
    ...(keys && { keys }),
  });
}

/** A file that the build makes from page/. */
function textOf(name: string): string {
  return readFileSync(new URL(`page/${name}`, import.meta.url), 'utf8');
}
