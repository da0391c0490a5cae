/** The current system. All other rooms access it through this module. */
import { darwin } from './darwin.ts';
import type { Platform } from './interface.ts';
import { linux } from './linux.ts';
import { titleOf } from './node-only.ts';
import { windows } from './windows.ts';

const others: Record<string, Platform> = { linux, android: linux, win32: windows };

/** `name`: a value of `process.platform`. */
export const choosePlatform = (name: string): Platform =>
  others[name] ?? { ...darwin, name, title: titleOf(name) };

export const platform = choosePlatform(process.platform);

export type { Pid, Platform } from './interface.ts';
export { notAvailable, unavailable } from './node-only.ts';
