/** The current system. All other rooms access it through this module. */

import type { Platform } from './interface.ts';
import { darwin } from './systems/darwin.ts';
import { linux } from './systems/linux.ts';
import { titleOf } from './systems/node-only.ts';
import { windows } from './systems/windows.ts';

const others: Record<string, Platform> = { linux, android: linux, win32: windows };

/** `name`: a value of `process.platform`. */
export const choosePlatform = (name: string): Platform =>
  others[name] ?? { ...darwin, name, title: titleOf(name) };

export const platform = choosePlatform(process.platform);

export type { Pid, Platform } from './interface.ts';
export { notAvailable, unavailable } from './systems/node-only.ts';
